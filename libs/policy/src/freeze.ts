import type { ToolApprovalRequested } from '#contracts/turns/events';
import type { Freeze, Freezes } from '#fold/freezes';
import { isAmong } from './pattern.js';

/**
 * What holds a call of this tool back, if anything does. Names are patterns as in a rule, so that no `pay_*` is switched on in
 * vain; and an agent is held together with those that work for it.
 */
export const freezeOf = (
  { on }: Freezes,
  tool: string,
  { id, path = [] }: ToolApprovalRequested['agent'],
): Freeze | undefined =>
  on.find((freeze) => isAmong(one(freeze.tool), tool) && isAmong(one(freeze.agent), id, ...path));

const one = (pattern: string | undefined) => (pattern === undefined ? undefined : [pattern]);
