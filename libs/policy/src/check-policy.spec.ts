import { describe, expect, it } from '@jest/globals';
import { PublishPolicy } from '#contracts/policies/commands';
import type { Policy, PolicyRule, Quorum, Requirement } from '#contracts/policies/policy';
import { parse } from '#contracts/parse';
import { policyErrors } from './check-policy.js';

const ONE: Requirement = { approvers: { count: 1 } };
const rule = (more: Partial<PolicyRule> = {}): PolicyRule => ({ id: 'r', tools: ['*'], then: 'deny', ...more });
const policy = (rules: readonly PolicyRule[], otherwise = ONE): Policy => ({ rules: [...rules], default: otherwise });
const errorsOf = (...rules: PolicyRule[]) => policyErrors(policy(rules));
const pathsOf = (...rules: PolicyRule[]) => errorsOf(...rules).map(({ path }) => path);
const ofApprovers = (approvers: Quorum) => policyErrors(policy([], { approvers }));
const named = (...subjects: string[]): Quorum => ({ count: 1, subjects });

describe('a policy without mistakes', () => {
  it('has none', () =>
    expect(errorsOf(rule({ when: 'args.amount > 5.0' }), rule({ id: 's', then: 'approve' }))).toEqual([]));
  it('may have no rules', () => expect(errorsOf()).toEqual([]));
  it('may ask in order, and for more than one no', () =>
    expect(
      ofApprovers({ inOrder: [named('ada'), { all: [{ count: 1 }, { count: 2, groups: ['g'] }] }], denyCount: 2 }),
    ).toEqual([]));
  it('may ask in order when it escalates', () => {
    const escalate = [{ afterSeconds: 60, approvers: { inOrder: [named('ada'), named('bob')] } }];
    expect(policyErrors(policy([], { ...ONE, escalate }))).toEqual([]);
  });
});

describe('a rule is refused', () => {
  it('with the id of an earlier one', () =>
    expect(errorsOf(rule(), rule({ id: 's' }), rule())).toEqual([
      { path: 'rules[2].id', message: '"r" is another rule\'s id' },
    ]));
  it('that requires nothing', () =>
    expect(pathsOf(rule(), rule({ id: 's', then: 'require' }))).toEqual(['rules[1].require']));
  it.each(['approve', 'deny'] as const)('that requires something and would %s', (then) =>
    expect(pathsOf(rule({ then, require: ONE }))).toEqual(['rules[0].require']),
  );
  it.each(['args.amount >', 'amount > 5', 'args.all(a, args.all(b, a == b))', "args.a.matches('(')"])(
    'with the condition %s',
    (when) => expect(pathsOf(rule({ when }))).toEqual(['rules[0].when']),
  );
  it('with the reason why its condition does not compile', () =>
    expect(errorsOf(rule({ when: 'amount > 5' }))[0]?.message).toContain('speaks of "amount"'));
  it('with everything that is wrong with it', () =>
    expect(pathsOf(rule(), rule({ then: 'require', when: '(' }))).toEqual([
      'rules[1].id',
      'rules[1].require',
      'rules[1].when',
    ]));
});

describe('conditions are refused', () => {
  const long = (id: string) => rule({ id, when: `tool == '${'x'.repeat(4_000)}'` });
  const rules = (count: number) => Array.from({ length: count }, (_, at) => long(`r${at}`));
  it('that are too long together', () => expect(pathsOf(...rules(9))).toEqual(['rules']));
  it('but not before that', () => expect(pathsOf(...rules(8))).toEqual([]));
});

describe('a quorum is refused', () => {
  const leaf: Quorum = { count: 1 };
  it.each<[string, Quorum]>([
    ['that asks for nobody', {}],
    ['that is a count and a combination', { count: 1, any: [leaf] }],
    ['that is two combinations', { all: [leaf], any: [leaf] }],
    ['that names people for a combination', { all: [leaf], groups: ['g'] }],
    ['that names people without a count', { subjects: ['ada'] }],
    ['that can never be met', { count: 2, subjects: ['ada'] }],
    ['that gives one person two places', { inOrder: [named('ada'), named('ada')] }],
    ['that asks for more people than anybody could read', { all: [{ count: 20 }, leaf] }],
    ['that asks for too many in order', { inOrder: [{ count: 20 }, leaf] }],
    [
      'that can be met in too many ways',
      { all: [1, 2, 3].map(() => ({ any: [1, 2, 3, 4, 5].map((count) => ({ count })) })) },
    ],
  ])('%s', (_, quorum) => expect(ofApprovers(quorum).map(({ path }) => path)).toEqual(['default.approvers']));
  it.each<[string, Quorum, string]>([
    ['with an order within', { all: [leaf, { inOrder: [leaf] }] }, 'all[1]'],
    ['with an order in an order', { inOrder: [leaf, { inOrder: [leaf] }] }, 'inOrder[1]'],
    ['with a "denyCount" within', { any: [leaf, { all: [{ count: 1, denyCount: 2 }] }] }, 'any[1].all[0]'],
    ['with nobody within', { any: [{}, leaf] }, 'any[0]'],
  ])('%s', (_, quorum, at) => expect(ofApprovers(quorum).map(({ path }) => path)).toEqual([`default.approvers.${at}`]));
});

describe('a requirement is refused', () => {
  const errorsIn = (requirement: Requirement) => policyErrors(policy([], requirement));
  const pathsIn = (requirement: Requirement) => errorsIn(requirement).map(({ path }) => path);
  const stage = (afterSeconds: number, approvers: Quorum = { count: 1 }) => ({ afterSeconds, approvers });

  it('with a stage that begins when the time to decide is over', () => {
    expect(pathsIn({ ...ONE, expiresInSeconds: 600, escalate: [stage(600)] })).toEqual([
      'default.escalate[0].afterSeconds',
    ]);
    expect(pathsIn({ ...ONE, expiresInSeconds: 600, escalate: [stage(599)] })).toEqual([]);
  });
  it('where the day that is meant without words is too short for its stage', () =>
    expect(errorsIn({ ...ONE, escalate: [stage(86_400)] })).toEqual([
      { path: 'default.escalate[0].afterSeconds', message: 'must be less than expiresInSeconds, which is 86400' },
    ]));
  it('with a stage that begins before the one before it', () => {
    expect(pathsIn({ ...ONE, escalate: [stage(60), stage(30)] })).toEqual(['default.escalate[1].afterSeconds']);
    expect(pathsIn({ ...ONE, escalate: [stage(60), stage(60)] })).toEqual([]);
  });
  it('with more denials than there are people to give them', () => {
    const two: Quorum = { count: 1, subjects: ['ada', 'Ada', 'bob'], denyCount: 3 };
    expect(errorsIn({ approvers: two })).toEqual([
      { path: 'default.approvers.denyCount', message: 'must not be more than the 2 people who are asked' },
    ]);
    expect(errorsIn({ approvers: { ...two, denyCount: 2 } })).toEqual([]);
    expect(errorsIn({ approvers: two, escalate: [stage(60, named('cleo'))] })).toEqual([]);
    expect(errorsIn({ approvers: two, escalate: [stage(60)] })).toEqual([]);
    expect(errorsIn({ approvers: { any: [named('ada'), { count: 1, groups: ['g'] }], denyCount: 5 } })).toEqual([]);
  });
});

describe('wherever a quorum stands it is looked at', () => {
  const wrong = { approvers: {} };
  const later = {
    approvers: { count: 1 },
    escalate: [
      { afterSeconds: 1, approvers: { count: 1 } },
      { afterSeconds: 2, ...wrong },
    ],
  };
  it('in the default', () => expect(policyErrors(policy([], wrong))[0]?.path).toBe('default.approvers'));
  it('in a rule', () =>
    expect(pathsOf(rule({ then: 'require', require: wrong }))).toEqual(['rules[0].require.approvers']));
  it('in its escalation', () =>
    expect(pathsOf(rule({ then: 'require', require: later }))).toEqual(['rules[0].require.escalate[1].approvers']));
  it('and there it says nothing of denials, which would not be heard', () => {
    const escalate = [{ afterSeconds: 1, approvers: { count: 2, denyCount: 2 } }];
    expect(policyErrors(policy([], { ...ONE, escalate }))[0]?.path).toBe('default.escalate[0].approvers');
  });
});

describe('what was published', () => {
  it('is looked at as it comes in at the door', () => {
    const published = parse(PublishPolicy, { expectedVersion: 0, ...policy([rule({ when: '(' })]) });
    expect(published.ok && policyErrors(published.value).map(({ path }) => path)).toEqual(['rules[0].when']);
  });
});
