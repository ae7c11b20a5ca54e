import { describe, expect, it } from '@jest/globals';
import fc, { type Arbitrary } from 'fast-check';
import type { Effect, PolicyRule, Quorum } from '#contracts/policies/policy';
import { people, quorums, SAME } from './arbitraries-for-spec.js';
import { compilePolicy, type CompiledPolicy } from './compiled.js';
import { completed } from './join.js';
import { tally } from './quorum.js';
import { ruleOn } from './ruling.js';

type Says = 'yes' | 'no' | 'fails';
const WHENS = {
  yes: ["tool == 'pay'", 'args.amount > 1.0', undefined],
  no: ["tool == 'mail'", 'args.amount > 100.0'],
  fails: ['args.missing > 1', "args.amount == 5 ? 'a' : 'b'", 'args.amount + 1 == 6', "args.amount.matches('(')"],
} satisfies Record<Says, (string | undefined)[]>;

interface Written {
  readonly says: Says;
  readonly rule: Omit<PolicyRule, 'id'>;
}

const written: Arbitrary<Written> = fc
  .constantFrom<Says>('yes', 'no', 'fails')
  .chain((says) =>
    fc.tuple(
      fc.constant(says),
      fc.constantFrom(...WHENS[says]),
      fc.constantFrom<Effect>('approve', 'deny', 'require'),
      quorums,
    ),
  )
  .map(([says, when, then, approvers]) => ({
    says,
    rule: {
      tools: ['*'],
      then,
      ...(when === undefined ? {} : { when }),
      ...(then === 'require' ? { require: { approvers } } : {}),
    },
  }));
const policies = fc.tuple(fc.array(written, { maxLength: 5 }), quorums);

const compiled = ([rules, approvers]: [Written[], Quorum]): CompiledPolicy =>
  compilePolicy(1, { rules: rules.map(({ rule }, at) => ({ id: `r-${at}`, ...rule })), default: { approvers } });
const rulingOf = (policy: Parameters<typeof compiled>[0]) =>
  ruleOn(compiled(policy), { agent: { id: 'a' }, conversationId: 'c' }, { toolName: 'pay', args: { amount: 5 } });
const are = (rules: readonly Written[], says: Says, ...effects: Effect[]) =>
  rules.filter((one) => one.says === says && effects.includes(one.rule.then));

const always = <Values>(property: fc.IProperty<Values>) => fc.assert(property, SAME);

describe('whatever the rules say', () => {
  it('nothing is approved where one fails, denies or requires', () =>
    always(
      fc.property(policies, (policy) => {
        const [rules] = policy;
        const against = [...are(rules, 'yes', 'deny', 'require'), ...rules.filter(({ says }) => says === 'fails')];
        if (against.length > 0 || are(rules, 'yes', 'approve').length === 0)
          expect(rulingOf(policy).effect).not.toBe('approve');
        else expect(rulingOf(policy).effect).toBe('approve');
      }),
    ));
  it('it is denied just where one denies', () =>
    always(
      fc.property(policies, (policy) =>
        expect(rulingOf(policy).effect === 'deny').toBe(are(policy[0], 'yes', 'deny').length > 0),
      ),
    ));
  it('every rule that fails is told of, and no other', () =>
    always(
      fc.property(policies, (policy) => {
        const failing = policy[0].flatMap(({ says }, at) => (says === 'fails' ? [`r-${at}`] : []));
        expect(rulingOf(policy).failures.map(({ rule }) => rule)).toEqual(failing);
      }),
    ));
  it('what is met meets every rule that requires, and the default where one fails', () =>
    always(
      fc.property(policies, people, (policy, approvals) => {
        const { effect, requirement } = rulingOf(policy);
        if (effect !== 'require' || !tally(requirement.approvers, approvals).met) return;
        const [rules, byDefault] = policy;
        const required = are(rules, 'yes', 'require').flatMap(({ rule }) =>
          rule.require ? [rule.require.approvers] : [],
        );
        const isByDefault = required.length === 0 || rules.some(({ says }) => says === 'fails');
        const parts = [...required, ...(isByDefault ? [byDefault] : [])];
        expect(parts.map((part) => tally(part, approvals).met)).not.toContain(false);
      }),
    ));
  it('it is the same in any order of the rules, but for the order of votes', () =>
    always(
      fc.property(policies, (policy) => {
        const [rules, byDefault] = policy;
        expect(rulingOf([[...rules].reverse(), byDefault]).effect).toBe(rulingOf(policy).effect);
      }),
    ));
  it('and always the same', () =>
    always(fc.property(policies, (policy) => expect(rulingOf(policy)).toEqual(rulingOf(policy)))));
  it('where nothing is required it is the default', () =>
    always(
      fc.property(policies, (policy) => {
        const [rules, approvers] = policy;
        if (rules.every(({ says }) => says === 'no'))
          expect(rulingOf(policy).requirement).toEqual(completed({ approvers }));
      }),
    ));
});
