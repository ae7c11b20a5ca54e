import { describe, expect, it } from '@jest/globals';
import type { Instant } from '#contracts/ids';
import type { Grant } from '#fold/grant';
import { approveByGrant, isForGrant } from './approve-by-grant.js';
import { callAfter, END, GRANT, grantOf } from './grant-stories-for-spec.js';
import {
  after,
  approved,
  CALL,
  DAY,
  DEFAULT_APPLIED,
  DIGEST,
  ended,
  given,
  published,
  requested,
  stateAfter,
  type Told,
} from './stories-for-spec.js';

interface Story {
  readonly facts?: readonly Told[];
  readonly grant?: Partial<Grant>;
  readonly at?: Instant;
}
const when = ({ facts = [requested()], grant = {}, at = after(100) }: Story = {}) =>
  given(...facts).when(approveByGrant, { approvalId: CALL, grant: grantOf(grant), n: 3 }, { now: at });

const step = (event: Told['event']): Told => ({ event, by: 'bob', kind: 'person', at: after(50) });
const voted = step({
  type: 'ApprovalVoteCast',
  data: {
    approvalId: CALL,
    n: 1,
    vote: 'approve',
    argsDigest: DIGEST,
    groups: [],
    requirement: DEFAULT_APPLIED,
    requestSeq: 1,
  },
});
const escalated = step({ type: 'ApprovalEscalated', data: { approvalId: CALL, n: 1, stage: 1, because: 'time' } });

describe('a grant approves', () => {
  it('a call of its own, and says which grant, which use and whose', () =>
    expect(when().event()).toEqual({
      approvalId: CALL,
      decision: 'approved',
      argsDigest: DIGEST,
      requirement: DEFAULT_APPLIED,
      requestSeq: 1,
      usableUntil: after(100 + DAY),
      grant: { grantId: GRANT, n: 3, by: 'ada' },
    }));
  it('for no longer than it lasts itself', () =>
    void when({ grant: { expiresAt: after(160) } }).then('ToolApprovalDecided', { usableUntil: after(160) }));
  it('to the very end of its own time and of the deadline', () => {
    when({ grant: { expiresAt: after(100.001) } }).then('ToolApprovalDecided', {});
    when({ at: after(DAY - 0.001) }).then('ToolApprovalDecided', {});
  });
  it('what is asked of more people by now, and nobody looks at yet', () => {
    const facts = [requested(), escalated];
    when({ facts }).then('ToolApprovalDecided', { steps: 1 });
  });
});

describe('a grant approves nothing', () => {
  const nothing = (story: Story) => void when(story).thenNothing();
  it('that the log does not have', () => nothing({ facts: [] }));
  it('that is decided', () => nothing({ facts: [requested(), approved] }));
  it('in a turn that has ended', () => nothing({ facts: [requested(), ended()] }));
  it('that somebody voted on', () => nothing({ facts: [requested(), voted] }));
  it('after its own end', () => nothing({ grant: { end: END } }));
  it('after its own end, though it came after the grant was read', () => {
    const command = { approvalId: CALL, grant: grantOf(), n: 1 };
    const decided = (state: object) =>
      approveByGrant(command, { ...stateAfter(requested()), ...state }, { now: after(100) });
    expect([decided({}).kind, decided({ over: END }).kind]).toEqual(['accept', 'nothing-to-do']);
  });
  it('when its time is over', () => nothing({ grant: { expiresAt: after(100) } }));
  it('after the deadline of the call', () => nothing({ at: after(DAY) }));
  it('after the shorter deadline of the request', () => nothing({ facts: [requested({ expiresInSeconds: 30 })] }));
  it('that was asked for before it was given', () => {
    nothing({ grant: { seq: 2 } });
    nothing({ facts: [published({ approvers: { count: 1 } }), requested()], grant: { seq: 2 } });
    when({ facts: [published({ approvers: { count: 1 } }), requested()], grant: { seq: 1 } }).then(
      'ToolApprovalDecided',
      {},
    );
  });
  it('that it does not cover', () => nothing({ grant: { scope: { tool: 'mail' } } }));
  it('that is frozen', () => {
    const freezes = { count: 1, seq: 1, on: [{ reason: 'drill', by: 'olga', at: after(0), seq: 1 }] };
    const state = stateAfter(requested());
    expect(isForGrant(grantOf(), callAfter(state), after(100))).toBe(true);
    expect(isForGrant(grantOf(), callAfter({ ...state, freezes }), after(100))).toBe(false);
  });
});
