import { describe, expect, it } from '@jest/globals';
import type { Policy, PolicyRule, Requirement } from '#contracts/policies/policy';
import { BEFORE_ANY_POLICY, compilePolicy, hashOfPolicy, ONE_APPROVER } from './compiled.js';
import { completed } from './join.js';
import { ruleOn } from './ruling.js';

const OPS: Requirement = { approvers: { count: 2, groups: ['ops'] } };
const LAW: Requirement = { approvers: { count: 1, groups: ['law'] } };
const FAILS = 'args.missing == 1';

const rule = (id: string, then: PolicyRule['then'], more: Partial<PolicyRule> = {}): PolicyRule => ({
  id,
  tools: ['*'],
  then,
  ...(then === 'require' ? { require: OPS } : {}),
  ...more,
});
const policy = (rules: readonly PolicyRule[], otherwise = ONE_APPROVER): Policy => ({
  rules: [...rules],
  default: otherwise,
});
const CALL = { toolName: 'pay', args: { amount: 5 } };
const REQUEST = { agent: { id: 'billing' }, conversationId: 'conv' };
const on = (rules: readonly PolicyRule[], call: Partial<Parameters<typeof ruleOn>[2]> = {}, otherwise = ONE_APPROVER) =>
  ruleOn(compilePolicy(7, policy(rules, otherwise)), REQUEST, { ...CALL, ...call });
const effects = (...rules: PolicyRule[]) => on(rules).effect;

const [approve, deny, require] = [rule('yes', 'approve'), rule('no', 'deny'), rule('ask', 'require')] as const;

describe('of the rules that match', () => {
  it('one decides', () =>
    expect([approve, deny, require].map((one) => effects(one))).toEqual(['approve', 'deny', 'require']));
  it('deny wins over the others, wherever it stands', () =>
    expect([effects(approve, require, deny), effects(deny, require, approve)]).toEqual(['deny', 'deny']));
  it('require wins over approve, wherever it stands', () =>
    expect([effects(approve, require), effects(require, approve)]).toEqual(['require', 'require']));
  it('all that require do so together', () =>
    expect(on([require, approve, rule('law', 'require', { require: LAW })])).toMatchObject({
      requirement: { approvers: { all: [OPS.approvers, LAW.approvers] } },
      rules: ['ask', 'law'],
    }));
  it('those that decided are named', () =>
    expect(on([approve, deny, rule('never', 'deny'), require]).rules).toEqual(['no', 'never']));
  it('one that decided says why, the first that does', () => {
    const rules = [rule('a', 'deny'), rule('b', 'deny', { reason: 'B' }), rule('c', 'deny', { reason: 'C' })];
    expect(on([rule('y', 'approve', { reason: 'Y' }), ...rules]).reason).toBe('B');
  });
  it('each must call the tool idempotent: one that does not say so is enough against it', () => {
    const again = rule('y', 'approve', { idempotent: true });
    const askedToo = rule('z', 'require', { idempotent: true });
    const all = [[again], [again, askedToo], [again, require], [require]].map((rules) => on(rules).idempotent);
    expect(all).toEqual([true, true, false, false]);
  });
});

describe('where no rule matches', () => {
  const other = rule('other', 'approve', { tools: ['other'] });
  it('nothing is idempotent, whatever rules about other calls say', () =>
    expect([
      on([rule('other', 'approve', { tools: ['other'], idempotent: true })]).idempotent,
      ruleOn(BEFORE_ANY_POLICY, REQUEST, CALL).idempotent,
    ]).toEqual([false, false]));
  it('people decide by the default', () =>
    expect(on([other], {}, LAW)).toMatchObject({ effect: 'require', requirement: completed(LAW), rules: [] }));
  it('so they do without a policy', () =>
    expect(ruleOn(BEFORE_ANY_POLICY, REQUEST, CALL)).toMatchObject({
      effect: 'require',
      requirement: { approvers: { count: 1 } },
      applied: { policyVersion: 0 },
    }));
});

describe('where a rule fails', () => {
  const failing = (then: PolicyRule['then']) => rule(`fails-${then}`, then, { when: FAILS });
  it.each(['approve', 'deny', 'require'] as const)('though it would only %s, nothing is approved', (then) =>
    expect(on([approve, failing(then)])).toMatchObject({ effect: 'require', rules: [], requirement: ONE_APPROVER }),
  );
  it.each(['approve', 'deny', 'require'] as const)('though it would only %s, nothing is idempotent', (then) =>
    expect(on([rule('y', 'approve', { idempotent: true }), failing(then)]).idempotent).toBe(false),
  );
  it('it calls nothing idempotent itself', () =>
    expect(on([rule('fails', 'approve', { idempotent: true, when: FAILS })]).idempotent).toBe(false));
  it('what others require is required beside the default', () =>
    expect(on([require, failing('approve')], {}, LAW)).toMatchObject({
      effect: 'require',
      rules: ['ask'],
      requirement: { approvers: { all: [LAW.approvers, OPS.approvers] } },
    }));
  it('what another denies is denied', () => expect(on([deny, failing('approve')]).effect).toBe('deny'));
  it('time does not approve, whatever the rules say', () => {
    const byTime: Requirement = { ...LAW, onExpiry: 'approve' };
    expect(on([], {}, byTime).requirement.onExpiry).toBe('approve');
    expect(on([failing('deny')], {}, byTime).requirement.onExpiry).toBe('deny');
    expect(on([rule('ask', 'require', { require: byTime }), failing('deny')], {}, byTime).requirement.onExpiry).toBe(
      'deny',
    );
  });
  it('it is said which and why', () =>
    expect(on([approve, failing('deny')]).failures).toEqual([
      { rule: 'fails-deny', message: expect.stringContaining('missing') },
    ]));
  it('it is said in no more words than a fact can hold', () => {
    const long = rule('long', 'deny', { when: `args.${'x'.repeat(2_000)} == 1` });
    expect(on([long]).failures[0]?.message.length).toBeLessThanOrEqual(500);
  });
  it('none fails where it is about other calls', () =>
    expect(on([rule('other', 'deny', { tools: ['other'], when: FAILS })]).failures).toEqual([]));
  it('one that does not compile fails, and the others are heard', () => {
    const broken = rule('broken', 'approve', { when: 'args.' });
    expect(on([broken, approve])).toMatchObject({ effect: 'require', failures: [{ rule: 'broken' }] });
    expect(effects(broken, deny)).toBe('deny');
  });
  it('a rule that requires nothing requires the default', () => {
    const { require: _, ...empty } = require;
    expect(on([empty, approve], {}, LAW)).toMatchObject({ effect: 'require', requirement: completed(LAW) });
  });
});

describe('a rule is about', () => {
  const hits = (more: Partial<PolicyRule>, call: Partial<Parameters<typeof ruleOn>[2]> = {}) =>
    on([rule('no', 'deny', more)], call).effect === 'deny';
  it('tools that match one of its patterns', () =>
    expect([hits({ tools: ['send_*', 'p*y'] }), hits({ tools: ['send_*'] }), hits({ tools: ['PAY'] })]).toEqual([
      true,
      false,
      false,
    ]));
  it('servers that match', () =>
    expect([
      hits({ servers: ['bank*'] }, { server: 'bank-eu' }),
      hits({ servers: ['bank*'] }, { server: 'mail' }),
      hits({ servers: ['bank*'] }),
    ]).toEqual([true, false, false]));
  it('calls without a server too, where any will do', () => expect(hits({ servers: ['*'] })).toBe(true));
  it('agents that match', () =>
    expect([hits({ agents: ['bill*'] }), hits({ agents: ['root'] })]).toEqual([true, false]));
  it('what all of them and its condition say', () =>
    expect([
      hits({ tools: ['pay'], agents: ['billing'], when: 'args.amount == 5' }),
      hits({ tools: ['pay'], agents: ['billing'], when: 'args.amount == 6' }),
      hits({ tools: ['pay'], agents: ['other'], when: 'args.amount == 5' }),
    ]).toEqual([true, false, false]));
  it('all that a condition may speak of', () => {
    const when = [
      "tool == 'pay' && server == 'bank' && args.amount == 5",
      "agent.id == 'billing' && agent.path[0] == 'root' && agent.onBehalfOf == 'ada'",
      "conversation.id == 'conv' && annotations.destructiveHint",
    ].join(' && ');
    const agent = { id: 'billing', path: ['root'], onBehalfOf: 'ada' };
    const call = { ...CALL, server: 'bank', annotations: { destructiveHint: true } };
    const compiled = compilePolicy(1, policy([rule('no', 'deny', { when })]));
    expect(ruleOn(compiled, { ...REQUEST, agent }, call)).toMatchObject({ effect: 'deny', failures: [] });
  });
  it('what is not given, as empty', () =>
    expect(hits({ when: "server == '' && agent.path == [] && agent.onBehalfOf == '' && annotations == {}" })).toBe(
      true,
    ));
});

describe('the hash of what was said', () => {
  it('is of the requirement alone, whatever the version and whichever the rule', () => {
    const hash = on([require]).applied.hash;
    expect(on([rule('other', 'require'), approve]).applied.hash).toBe(hash);
    expect(ruleOn(compilePolicy(8, policy([require])), REQUEST, CALL).applied).toEqual({
      policyVersion: 8,
      engineVersion: '1',
      hash,
    });
  });
  it('differs with the requirement and with the effect', () => {
    const all = [on([require]), on([rule('x', 'require', { require: LAW })]), on([approve]), on([deny]), on([])];
    expect(new Set(all.map(({ applied }) => applied.hash)).size).toBe(5);
  });
  it('is the default of which nobody has published another', () =>
    expect(ruleOn(BEFORE_ANY_POLICY, REQUEST, CALL).applied.hash).toBe(on([]).applied.hash));
});

describe('the hash of a policy', () => {
  it('is over its rules and its default', () => {
    const hashes = [policy([]), policy([approve]), policy([deny]), policy([], LAW)].map(hashOfPolicy);
    expect(new Set(hashes).size).toBe(4);
  });
  it('is the same however it is spelled', () => {
    const { id, ...more } = approve;
    expect(hashOfPolicy(policy([{ ...more, id }]))).toBe(hashOfPolicy(policy([approve])));
  });
  it('leaves out what else is with it', () =>
    expect(hashOfPolicy(Object.assign(policy([approve]), { version: 3, expectedVersion: 2 }))).toBe(
      hashOfPolicy(policy([approve])),
    ));
});
