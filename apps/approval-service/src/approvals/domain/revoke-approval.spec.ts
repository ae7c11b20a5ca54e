import { describe, expect, it } from '@jest/globals';
import { revokeApproval } from './revoke-approval.js';
import {
  after,
  approved,
  by,
  CALL,
  DAY,
  decided,
  ended,
  given,
  lapsed,
  requested,
  revoked,
  started,
  type Told,
} from './stories-for-spec.js';

const takeBack = { approvalId: CALL, reason: 'wrong account' };
const when = (facts: readonly Told[], context = by('ada')) => given(...facts).when(revokeApproval, takeBack, context);

describe('an approval is taken back', () => {
  it('by who gave it', () =>
    expect(when([requested(), approved], by('ADA')).event()).toEqual({
      approvalId: CALL,
      reason: 'wrong account',
      turnEnded: false,
    }));
  it('by an admin', () =>
    void when([requested(), approved], by('root', after(100), { roles: ['admin'] })).then('ToolApprovalRevoked', {}));
  it('by who gave it with an edit', () =>
    void when([requested(), decided('approved', 'ada', { editedArgs: {} })]).then('ToolApprovalRevoked', {}));
  it('in a turn that ended, before the reaction does it', () =>
    void when([requested(), approved, ended()]).then('ToolApprovalRevoked', { turnEnded: false }));
});

describe('an approval is not taken back', () => {
  it('where there is none', () => void when([]).thenRefused('not-found'));
  it('before it is decided', () => void when([requested()]).thenRefused('not-ready'));
  it.each(['denied', 'responded', 'expired', 'cancelled'] as const)('after it was %s, with the winner', (decision) =>
    when([requested(), decided(decision)]).thenRefused('superseded', {
      winner: { decision, by: 'ada', at: after(60), seq: 2 },
    }),
  );
  it('by another approver', () => void when([requested(), approved], by('bob')).thenRefused('forbidden'));
  it('by one who is called as the policy that gave it', () =>
    void when([requested(), decided('approved', 'ada', {}, 'policy')]).thenRefused('forbidden'));
  it('once the tool began, with who and when', () =>
    void when([requested(), approved, started]).thenRefused('already-used', { by: 'demo-agent', at: after(80) }));
  it('twice: that is nothing to do', () => void when([requested(), approved, revoked('ada')]).thenNothing());
  it('after another did', () =>
    void when([requested(), approved, revoked('root')]).thenRefused('revoked', { by: 'root' }));
  it('after it lapsed', () => void when([requested(), approved, lapsed]).thenRefused('lapsed'));
  it('past its time, before the sweep says so too', () =>
    void when([requested(), approved], by('ada', after(60 + DAY))).thenRefused('lapsed', { at: after(60 + DAY) }));
});
