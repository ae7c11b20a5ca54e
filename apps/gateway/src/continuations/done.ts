import { indexOfApproval, isApprovalId, type LeaseKey } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { isHeldBy } from '#fold/lease';
import type { WholeTurn } from '#fold/read';
import { isClosed } from '#fold/status';
import { Refused } from '../http/problem.js';
import type { ReadTurns } from '../turns/read-turns.js';
import { lastSeq } from '../turns/turn-view.js';

export interface DoneRequest {
  readonly caller: Caller;
  readonly key: LeaseKey;
  readonly workerId: string;
  readonly attempt: number;
}

/** Nothing is written: that a call needs no further offer is in the log already, or it is not so. */
export async function done(turns: ReadTurns, request: DoneRequest): Promise<{ readonly seq: number }> {
  const whole = await turns.of(request.caller, request.key);
  const no = refuseDone(whole, request);
  if (no) throw new Refused(no);
  return { seq: lastSeq(whole) };
}

export function refuseDone(whole: WholeTurn, { caller, key, workerId, attempt }: DoneRequest): Refusal | undefined {
  if (!isApprovalId(key))
    return whole.turn.end ? undefined : refusal('not-ready', 'A turn is over when it is ended; use its /end');
  const call = whole.approvals[indexOfApproval(key)];
  if (!call) return refusal('not-found', `There is no ${key}`);
  if (!isClosed(call)) return refusal('not-ready', 'This call has no outcome yet, and is neither revoked nor lapsed');
  if (isHeldBy(call.lease, { tokenId: caller.tokenId, workerId, attempt })) return undefined;
  return refusal('stale-attempt', 'Another attempt has taken this call, or none of yours has');
}
