import { compileCondition } from './condition.js';
import type { ConditionInput } from './condition-input.js';

export type Args = ConditionInput['args'];

export const inputOf = (args: Args, more: Partial<ConditionInput> = {}): ConditionInput => ({
  args,
  tool: 'pay',
  server: 'bank',
  agent: { id: 'billing', path: ['root', 'billing'], onBehalfOf: 'ada' },
  conversation: { id: 'conv' },
  annotations: {},
  ...more,
});
export const says = (when: string, args: Args = {}, more: Partial<ConditionInput> = {}) =>
  compileCondition(when)(inputOf(args, more));
export const compiling = (when: string) => () => compileCondition(when);
export const asking = (when: string, args: Args = {}, more: Partial<ConditionInput> = {}) => {
  const condition = compileCondition(when);
  return () => condition(inputOf(args, more));
};
