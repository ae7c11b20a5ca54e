import { describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import { approvalIdOf, turnKeyOf, type ApprovalId } from '#contracts/ids';
import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import { MemoryLog } from '#event-log/memory-log';
import { denyAgain, readEarlierDenial, type EarlierDenial } from './deny-again.js';
import { callAfter } from './grant-stories-for-spec.js';
import {
  after,
  approved,
  CALL,
  decided,
  DEFAULT_APPLIED,
  DIGEST,
  ended,
  given,
  published,
  recordedAt,
  requested,
  stateAfter,
  TENANT,
  type Told,
} from './stories-for-spec.js';

const EARLIER_TURN = turnKeyOf(TENANT, 'conv-1', 't-0');
const EARLIER = approvalIdOf(EARLIER_TURN, 0);
const NOWHERE = approvalIdOf(turnKeyOf(TENANT, 'conv-1', 't-none'), 0);

describe('the same call again', () => {
  const earlier: EarlierDenial = { seq: 1, reason: 'no', repeats: { approvalId: EARLIER, by: 'ada', count: 2 } };
  const when = (facts: readonly Told[], more: Partial<EarlierDenial> = {}) =>
    given(...facts).when(denyAgain, { approvalId: CALL, earlier: { ...earlier, ...more } }, { now: after(100) });
  const voted: Told = {
    event: {
      type: 'ApprovalVoteCast',
      data: {
        approvalId: CALL,
        n: 1,
        vote: 'deny',
        argsDigest: DIGEST,
        groups: [],
        requirement: DEFAULT_APPLIED,
        requestSeq: 1,
      },
    },
    by: 'bob',
    kind: 'person',
    at: after(50),
  };

  it('is denied with the same reason, and says whose no it repeats', () =>
    expect(when([requested()]).event()).toEqual({
      approvalId: CALL,
      decision: 'denied',
      reason: 'no',
      argsDigest: DIGEST,
      requirement: DEFAULT_APPLIED,
      requestSeq: 1,
      repeats: earlier.repeats,
    }));
  it('is left to time where that is over', () => {
    const late = given(requested()).when(denyAgain, { approvalId: CALL, earlier }, { now: after(86_401) });
    late.thenNothing();
  });
  it('is denied without one, where none was given', () => {
    const { reason: _, ...silent } = earlier;
    const answer = given(requested()).when(denyAgain, { approvalId: CALL, earlier: silent }, { now: after(100) });
    expect(answer.event()).not.toHaveProperty('reason');
  });
  it('is left to people who are to be asked again', () =>
    void when([published({ approvers: { count: 1 }, askAgainAfterDenial: true }), requested()]).thenNothing());
  it.each(['deny', 'approve'] as const)('is left to a policy that says %s', (then) =>
    when([published({ approvers: { count: 1 } }, [{ id: 'r', tools: ['*'], then }]), requested()]).thenNothing(),
  );
  it('is left as it was decided', () => void when([requested(), approved]).thenNothing());
  it('is left in a turn that has ended', () => void when([requested(), ended()]).thenNothing());
  it('is left to those who vote on it', () => void when([requested(), voted]).thenNothing());
  it('is nothing where the log has none', () => void when([]).thenNothing());
});

interface Before {
  readonly request?: Partial<ToolApprovalRequested>;
  readonly call?: Partial<RequestedToolCall>;
  readonly decision?: Told;
}

const about = (told: Told, approvalId: ApprovalId = EARLIER): Told => {
  if (told.event.type !== 'ToolApprovalDecided') return told;
  return { ...told, event: { ...told.event, data: { ...told.event.data, approvalId } } };
};

describe('an earlier denial, as the log has it', () => {
  async function read({ request = {}, call = {}, decision = decided('denied') }: Before, seq = 9) {
    const log = new MemoryLog();
    const before = requested({ turnKey: EARLIER_TURN, turnId: 't-0', ...request }, call);
    for (const fact of [before, about(decision)]) await log.append(recordedAt(fact, 0));
    const known = callAfter({ ...stateAfter(requested()) });
    return readEarlierDenial(log, TENANT, { ...known, turn: { ...known.turn, requestSeq: seq } }, EARLIER);
  }

  it('is a person’s no to the same call', async () =>
    expect(await read({})).toEqual({ seq: 2, repeats: { approvalId: EARLIER, by: 'ada', count: 1 } }));
  it('gives its reason', async () =>
    expect(await read({ decision: decided('denied', 'ada', { reason: 'no' }) })).toMatchObject({ reason: 'no' }));
  it('is as old as what the person said, however often it was repeated since', async () => {
    const log = new MemoryLog();
    const first = approvalIdOf(turnKeyOf(TENANT, 'conv-1', 't-first'), 0);
    const repeats = { approvalId: first, by: 'ada', count: 4 };
    const before = requested({ turnKey: EARLIER_TURN, turnId: 't-0' });
    const facts = [about(decided('denied', 'ada', { reason: 'no' }), first), before];
    for (const fact of [...facts, about(decided('denied', first, { repeats }, 'denial'))])
      await log.append(recordedAt(fact, 0));
    const known = callAfter(stateAfter(requested()));
    const found = await readEarlierDenial(log, TENANT, { ...known, turn: { ...known.turn, requestSeq: 9 } }, EARLIER);
    expect(found).toEqual({ seq: 1, reason: 'no', repeats: { ...repeats, count: 5 } });
  });
  it('is waited for where the log does not show yet who said so', async () => {
    const repeats = { approvalId: NOWHERE, by: 'ada', count: 1 };
    expect(await read({ decision: decided('denied', NOWHERE, { repeats }, 'denial') })).toBe('behind');
  });
  it('is none in another conversation', async () =>
    expect(await read({ request: { conversationId: 'conv-2' } })).toBeUndefined());
  it.each<[string, Partial<RequestedToolCall>]>([
    ['arguments', { argsDigest: digestOf({}), args: {} }],
    ['tool', { toolName: 'mail' }],
    ['server', { server: 'bank' }],
  ])('is none with another %s', async (_, call) => expect(await read({ call })).toBeUndefined());
  it.each(['approved', 'responded', 'expired', 'cancelled'] as const)('is none where it was %s', async (decision) =>
    expect(await read({ decision: decided(decision) })).toBeUndefined(),
  );
  it.each(['policy', 'timer'] as const)('is none of a %s', async (kind) =>
    expect(await read({ decision: decided('denied', kind, {}, kind) })).toBeUndefined(),
  );
  it('is none after the call was asked for', async () => {
    expect(await read({}, 2)).toBeUndefined();
    expect(await read({}, 3)).toBeDefined();
  });
  it('is waited for where the log does not show the call yet', async () => {
    const known = callAfter(stateAfter(requested()));
    expect(await readEarlierDenial(new MemoryLog(), TENANT, known, EARLIER)).toBe('behind');
  });
});
