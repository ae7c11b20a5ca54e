import { describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, turnKeyOf, type Instant, type Tenant, type TokenId } from '#contracts/ids';
import type { PolicyRule } from '#contracts/policies/policy';
import type { ToolApprovalRequested } from '#contracts/turns/events';
import { compilePolicy } from './compiled.js';
import { NO_POLICIES, type Policies } from './in-force.js';
import { Simulation } from './simulation.js';

const TENANT = 'default' as Tenant;
const AT = '2026-03-01T12:00:00.000Z' as Instant;
const ONE = { approvers: { count: 1 } };
const rule = (then: PolicyRule['then'], when?: string): PolicyRule => ({
  id: then,
  tools: ['pay'],
  then,
  ...(then === 'require' ? { require: { approvers: { count: 2 } } } : {}),
  ...(when === undefined ? {} : { when }),
});
const policy = (...rules: PolicyRule[]) => compilePolicy(1, { rules, default: ONE });

const key = (n: number) => turnKeyOf(TENANT, 'c', `t-${n}`);
const fact = (event: HoldpointEvent, seq: number, kind: 'person' | 'policy' = 'person'): Recorded<HoldpointEvent> => ({
  ...{ event, seq, tenant: TENANT, subject: '', eventId: '', correlationId: '', causationId: '' },
  ...{ occurredAt: AT, storedAt: AT, actor: { kind, id: 'ada', via: 'test' } },
});
const request = (n: number): ToolApprovalRequested => ({
  ...{ turnKey: key(n), conversationId: 'c', turnId: `t-${n}`, agent: { id: 'a' }, release: 'all', pool: 'p' },
  toolCalls: [{ toolCallId: 'c', toolName: 'pay', args: { n }, argsDigest: digestOf({ n }) }],
  ...{ digest: digestOf({ n }), tokenId: 'tk' as TokenId },
});

/** Asks once, then decides it so. */
function tried(draft: ReturnType<typeof policy>, before: Policies, decision?: 'approved' | 'denied', by?: 'policy') {
  const simulation = new Simulation(draft);
  const asked = request(1);
  const lines = [...simulation.requested(fact({ type: 'ToolApprovalRequested', data: asked }, 5), asked, before)];
  const applied = { policyVersion: 0, engineVersion: '1', hash: digestOf(1) };
  const approvalId = approvalIdOf(key(1), 0);
  for (const seq of decision ? [6, 7] : []) {
    const data = {
      approvalId,
      decision: decision ?? 'denied',
      argsDigest: digestOf(1),
      requirement: applied,
      requestSeq: 5,
    };
    lines.push(...simulation.decided(fact({ type: 'ToolApprovalDecided', data }, seq, by), data));
  }
  return { lines, sums: simulation.sums };
}
const under = (...rules: PolicyRule[]): Policies => new Map([[TENANT, [{ seq: 1, policy: policy(...rules) }]]]);

describe('a draft, against what was in force', () => {
  it('says of each call what each says', () =>
    expect(tried(policy(rule('approve')), NO_POLICIES).lines).toMatchObject([
      {
        type: 'call',
        seq: 5,
        toolName: 'pay',
        before: { effect: 'require' },
        after: { effect: 'approve', rules: ['approve'] },
      },
    ]));
  it('counts whom it would ask no more, and whom it would ask', () => {
    expect(tried(policy(rule('approve')), NO_POLICIES).sums).toMatchObject({ askedFewer: 1, askedMore: 0, changed: 1 });
    expect(tried(policy(), under(rule('deny'))).sums).toMatchObject({ askedFewer: 0, askedMore: 1, changed: 1 });
    expect(tried(policy(rule('require')), NO_POLICIES).sums).toMatchObject({ askedFewer: 0, askedMore: 0, changed: 1 });
    expect(tried(policy(), NO_POLICIES).sums).toMatchObject({ calls: 1, changed: 0, askedFewer: 0, askedMore: 0 });
  });
  it('counts where its rules fail', () =>
    expect(tried(policy(rule('approve', 'args.x > 1.0')), NO_POLICIES).sums).toMatchObject({
      failures: 1,
      askedFewer: 0,
    }));
});

describe('what would be regretted', () => {
  const approving = policy(rule('approve'));
  it('is what a person denied and the draft approves, once', () => {
    const { lines, sums } = tried(approving, NO_POLICIES, 'denied');
    expect(lines.slice(1)).toEqual([{ type: 'regret', approvalId: approvalIdOf(key(1), 0), seq: 6, by: 'ada' }]);
    expect(sums.regret).toBe(1);
  });
  it('is not what was approved, what a policy denied, or what the draft asks about', () => {
    expect(tried(approving, NO_POLICIES, 'approved').sums.regret).toBe(0);
    expect(tried(approving, NO_POLICIES, 'denied', 'policy').sums.regret).toBe(0);
    expect(tried(policy(), NO_POLICIES, 'denied').sums.regret).toBe(0);
  });
});
