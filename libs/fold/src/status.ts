import type { Instant } from '#contracts/ids';
import type { ApprovalStatus, TurnStatus } from '#contracts/statuses';
import type { Approval } from './approval.js';
import { closingOf } from './closing.js';
import { isAlive, lastAttempt, type Lease } from './lease.js';
import type { KnownTurn } from './turn.js';

/** The lease under which a call runs: the turn's where it is released whole, else the call's own (design 4.9). */
export const leaseOfCall = (turn: KnownTurn, approval: Approval): Lease =>
  turn.request.release === 'all' ? turn.lease : approval.lease;

/** Began, and there is no outcome. */
export const isUnfinished = ({ use, outcome }: Approval): boolean => use?.is === 'started' && outcome === undefined;

/** Another attempt has followed the one that began it. */
export const isLeftBehind = (turn: KnownTurn, approval: Approval): boolean =>
  approval.use?.is === 'started' && approval.use.attempt !== lastAttempt(leaseOfCall(turn, approval));

/** Unfinished, and the lease under which it began is over: nobody knows what happened. */
export const isInDoubt = (turn: KnownTurn, approval: Approval, now: Instant): boolean =>
  isUnfinished(approval) && (isLeftBehind(turn, approval) || !isAlive(leaseOfCall(turn, approval), now));

/** What time makes (`in-doubt`) is computed when read, never stored (design 4.13). */
export function approvalStatus(turn: KnownTurn, approval: Approval, now: Instant): ApprovalStatus {
  if (approval.outcome) return approval.outcome.ok ? 'executed' : 'failed';
  if (approval.use?.is === 'started') return isInDoubt(turn, approval, now) ? 'in-doubt' : 'executing';
  if (approval.use) return approval.use.is;
  if (approval.decision) return approval.decision.is;
  return closingOf(approval.steps)?.heldUntil ? 'held' : 'pending';
}

export const isDecided = (approval: Approval): boolean => approval.decision !== undefined;

/** It has its result: an outcome, or it was denied, responded, expired, cancelled, revoked or lapsed. */
export const isClosed = (approval: Approval): boolean =>
  approval.outcome !== undefined ||
  (approval.use !== undefined && approval.use.is !== 'started') ||
  (approval.decision !== undefined && approval.decision.is !== 'approved');

/** The whole turn may go on: every call decided (`all`), or every call has its result (`each`) (design 4.8). */
export const mayGoOn = (turn: KnownTurn, approvals: readonly Approval[]): boolean =>
  approvals.every(turn.request.release === 'all' ? isDecided : isClosed);

export function turnStatus(turn: KnownTurn, approvals: readonly Approval[], now: Instant): TurnStatus {
  if (turn.end) return turn.end.status;
  if (!approvals.every(isDecided)) return 'awaiting-approval';
  const alive = isAlive(turn.lease, now) || approvals.some((approval) => isAlive(approval.lease, now));
  return alive ? 'continuing' : 'ready';
}
