import { describe, expect, it } from '@jest/globals';
import type { PolicyRule } from '#contracts/policies/policy';
import { applyPolicy } from './apply-policy.js';
import { decideApproval } from './decide-approval.js';
import { expireApproval } from './expire-approval.js';
import { reportFailures } from './report-failures.js';
import { after, by, CALL, decided, ended, published, requested, stateAfter, type Told } from './stories-for-spec.js';

const ONE = { approvers: { count: 1 } };
const rule = (then: PolicyRule['then'], more: Partial<PolicyRule> = {}): PolicyRule => ({
  id: `r-${then}`,
  tools: ['pay'],
  then,
  ...more,
});
const under = (rules: readonly PolicyRule[], ...more: readonly Told[]) =>
  stateAfter(published(ONE, rules), requested(), ...more);
const applied = (rules: readonly PolicyRule[], ...more: readonly Told[]) =>
  applyPolicy({ approvalId: CALL }, under(rules, ...more), { now: after(1) });

describe('the policy', () => {
  it('denies with its reason and names its rule', () =>
    expect(applied([rule('deny', { reason: 'never' })])).toMatchObject({
      event: { type: 'ToolApprovalDecided', data: { decision: 'denied', reason: 'never', rules: ['r-deny'] } },
    }));
  it('approves, for as long as the default says', () =>
    expect(applied([rule('approve')])).toMatchObject({
      event: { data: { decision: 'approved', usableUntil: after(86_401), rules: ['r-approve'] } },
    }));
  it('leaves the rest to people', () => {
    expect(applied([])).toMatchObject({ kind: 'nothing-to-do' });
    expect(applied([rule('approve'), rule('require', { require: ONE })])).toMatchObject({ kind: 'nothing-to-do' });
  });
  it('decides nothing twice, and nothing of an ended turn', () => {
    expect(applied([rule('deny')], decided('approved'))).toMatchObject({ kind: 'nothing-to-do' });
    expect(applied([rule('deny')], ended())).toMatchObject({ kind: 'nothing-to-do' });
  });
  it('that came after the request does not count', () => {
    const state = stateAfter(requested(), published(ONE, [rule('deny')]));
    expect(applyPolicy({ approvalId: CALL }, state, { now: after(1) })).toMatchObject({ kind: 'nothing-to-do' });
  });
});

describe('while it is frozen', () => {
  const freeze = { reason: 'drill', by: 'olga', at: after(0), seq: 9 };
  const frozen = (then: PolicyRule['then']) => ({
    ...under([rule(then)]),
    freezes: { count: 1, seq: 1, on: [freeze] },
  });

  it('the policy approves nothing, and people decide', () => {
    expect(applyPolicy({ approvalId: CALL }, frozen('approve'), { now: after(1) })).toMatchObject({
      kind: 'nothing-to-do',
    });
    const answer = decideApproval({ approvalId: CALL, decision: 'approve' }, frozen('approve'), by('ada'));
    expect(answer).toMatchObject({ event: { data: { decision: 'approved' } } });
  });
  it('the policy denies as always', () =>
    expect(applyPolicy({ approvalId: CALL }, frozen('deny'), { now: after(1) })).toMatchObject({
      event: { data: { decision: 'denied' } },
    }));
  it('time approves nothing', () => {
    const lenient = stateAfter(published({ ...ONE, onExpiry: 'approve' }), requested());
    const expire = (state: typeof lenient) => expireApproval({ approvalId: CALL }, state, { now: after(90_000) });
    expect(expire(lenient)).toMatchObject({ event: { data: { decision: 'approved' } } });
    expect(expire({ ...lenient, freezes: { count: 1, seq: 1, on: [freeze] } })).toMatchObject({
      event: { data: { decision: 'expired' } },
    });
  });
});

describe('before the policy has spoken', () => {
  it('nobody is quicker', () => {
    const answer = decideApproval({ approvalId: CALL, decision: 'approve' }, under([rule('deny')]), by('ada'));
    expect(answer).toMatchObject({ kind: 'refuse', refusal: { reason: 'superseded' } });
  });
  it('time is not either', () =>
    expect(expireApproval({ approvalId: CALL }, under([rule('deny')]), { now: after(90_000) })).toMatchObject({
      kind: 'nothing-to-do',
    }));
});

describe('a rule that fails', () => {
  const failing = [rule('approve', { when: 'args.missing > 1.0' })];
  it('approves nothing', () => expect(applied(failing)).toMatchObject({ kind: 'nothing-to-do' }));
  it('is reported, once', () => {
    const state = under(failing);
    expect(reportFailures({ approvalId: CALL }, { ...state, isReported: false })).toMatchObject({
      event: { type: 'PolicyEvaluationFailed', data: { policyVersion: 1, failures: [{ rule: 'r-approve' }] } },
    });
    expect(reportFailures({ approvalId: CALL }, { ...state, isReported: true })).toMatchObject({
      kind: 'nothing-to-do',
    });
    expect(reportFailures({ approvalId: CALL }, { ...under([]), isReported: false })).toMatchObject({
      kind: 'nothing-to-do',
    });
  });
});
