import type { Recorded } from '#contracts/envelope';
import { isSetting, type HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import type { ToolApprovalRequested, TurnEnd } from '#contracts/turns/events';
import { unreachable } from '#decider/decider';
import { leaseAfter, NEVER_TAKEN, type Lease } from './lease.js';

/** A turn as the log tells it. */
export type Turn = UnknownTurn | KnownTurn;

export interface UnknownTurn {
  readonly state: 'unknown';
}

export interface KnownTurn {
  readonly state: 'open' | 'ended';
  readonly request: ToolApprovalRequested;
  readonly requestedBy: string;
  readonly requestedAt: Instant;
  readonly requestSeq: number;
  /** Of the whole turn (kind `turn`). Calls of a turn released each have their own, in their approvals. */
  readonly lease: Lease;
  readonly end?: Ended;
  /** The last fact that was read: what the state is true of. */
  readonly seq: number;
}

export interface Ended {
  readonly status: TurnEnd;
  readonly attempt?: number;
  readonly reason?: string;
  readonly by: string;
  readonly at: Instant;
  readonly seq: number;
}

export const UNKNOWN_TURN: Turn = { state: 'unknown' };

/** Facts of other turns and of approvals leave a turn as it is. */
export function evolveTurn(turn: Turn, fact: Recorded<HoldpointEvent>): Turn {
  const { event, seq, actor, occurredAt } = fact;
  if (event.type === 'ToolApprovalRequested') {
    const open = { requestedBy: actor.id, requestedAt: occurredAt, requestSeq: seq, lease: NEVER_TAKEN, seq };
    return { state: 'open', request: event.data, ...open };
  }
  if (turn.state === 'unknown') return turn;
  if (isSetting(event)) return turn;
  switch (event.type) {
    case 'TurnResumed':
    case 'LeaseExtended':
    case 'LeaseGivenBack':
      if (event.data.key !== turn.request.turnKey) return turn;
      return { ...turn, lease: leaseAfter(event, fact), seq };
    case 'TurnEnded': {
      const end = { status: event.data.status, by: actor.id, at: occurredAt, seq };
      return {
        ...turn,
        state: 'ended',
        end: { ...end, ...withAttempt(event.data.attempt), ...withReason(event.data.reason) },
        seq,
      };
    }
    case 'ToolExecutionSucceeded':
    case 'ToolExecutionFailed':
    case 'ToolApprovalDecided':
    case 'ToolExecutionStarted':
    case 'ToolApprovalRevoked':
    case 'ToolApprovalLapsed':
    case 'DecisionRefused':
    case 'ApprovalVoteCast':
    case 'ApprovalVoteWithdrawn':
    case 'ApprovalEscalated':
    case 'ApprovalHoldEnded':
    case 'PolicyEvaluationFailed':
      return turn;
    default:
      return unreachable(event);
  }
}

const withAttempt = (attempt: number | undefined) => (attempt === undefined ? {} : { attempt });
const withReason = (reason: string | undefined) => (reason === undefined ? {} : { reason });
