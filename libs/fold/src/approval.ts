import type {
  ApprovalEscalated,
  ApprovalVoteCast,
  DecisionKind,
  RepeatedDenial,
  UsedGrant,
} from '#contracts/approvals/events';
import type { Recorded } from '#contracts/envelope';
import type { Remembered } from '#contracts/grants/events';
import { isSetting, type HoldpointEvent } from '#contracts/events';
import type { ApprovalId, GrantId, Instant, TokenId } from '#contracts/ids';
import { unreachable } from '#decider/decider';
import { leaseAfter, NEVER_TAKEN, type Lease } from './lease.js';

/** One approval's own facts. What was asked is in its turn. */
export interface Approval {
  /** Its own, where the turn releases each call by itself. */
  readonly lease: Lease;
  /** Before the decision, in their order; empty where one act decided. */
  readonly steps: readonly Step[];
  readonly decision?: Decision;
  readonly use?: Use;
  readonly outcome?: Outcome;
  /** The last fact that was read, 0 where there is none. */
  readonly seq: number;
}

interface Happened {
  readonly by: string;
  readonly at: Instant;
  readonly seq: number;
  readonly eventId: string;
}

/** One entry of the story before the decision (design 1). */
export type Step = Happened & { readonly n: number } & (
    | ({ readonly is: 'vote' } & Omit<ApprovalVoteCast, 'approvalId' | 'n'>)
    | { readonly is: 'withdrawn'; readonly heldUntil?: Instant }
    | ({ readonly is: 'escalated' } & Omit<ApprovalEscalated, 'approvalId' | 'n'>)
    | { readonly is: 'hold-ended' }
  );
export type VoteStep = Extract<Step, { readonly is: 'vote' }>;

export interface Decision extends Happened {
  readonly is: DecisionKind;
  readonly byKind: string;
  readonly usableUntil?: Instant;
  readonly rules?: readonly string[];
  readonly reason?: string;
  readonly editedArgs?: Record<string, unknown>;
  readonly argsDigest: string;
  readonly response?: unknown;
  readonly remember?: Remembered;
  readonly grant?: UsedGrant;
  readonly repeats?: RepeatedDenial;
}

/** What became of the one right to run the tool. */
export type Use = Happened &
  (
    | {
        readonly is: 'started';
        readonly attempt: number;
        readonly workerId: string;
        readonly tokenId: TokenId;
        readonly grantId?: GrantId;
      }
    | { readonly is: 'revoked'; readonly reason: string; readonly turnEnded: boolean }
    | { readonly is: 'lapsed' }
  );

export type Outcome = Happened & {
  readonly settled: boolean;
  readonly attempt: number;
  readonly durationMs?: number;
} & ({ readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: unknown });

export const NEW_APPROVAL: Approval = { lease: NEVER_TAKEN, steps: [], seq: 0 };

export function evolveApproval(approval: Approval, fact: Recorded<HoldpointEvent>): Approval {
  const { event, seq } = fact;
  const happened = { by: fact.actor.id, at: fact.occurredAt, seq, eventId: fact.eventId };
  if (isSetting(event)) return approval;
  switch (event.type) {
    case 'ApprovalVoteCast':
    case 'ApprovalVoteWithdrawn':
    case 'ApprovalEscalated':
    case 'ApprovalHoldEnded':
      return { ...approval, steps: [...approval.steps, stepOf(event, happened)], seq };
    case 'ToolApprovalDecided': {
      const { decision: is, approvalId: _, requirement: __, requestSeq: ___, steps: ____, ...rest } = event.data;
      return { ...approval, decision: { is, byKind: fact.actor.kind, ...rest, ...happened }, seq };
    }
    case 'ToolExecutionStarted': {
      const { approvalId: _, argsDigest: __, ...rest } = event.data;
      return { ...approval, use: { is: 'started', ...rest, ...happened }, seq };
    }
    case 'ToolApprovalRevoked': {
      const { reason, turnEnded } = event.data;
      return { ...approval, use: { is: 'revoked', reason, turnEnded, ...happened }, seq };
    }
    case 'ToolApprovalLapsed':
      return { ...approval, use: { is: 'lapsed', ...happened }, seq };
    case 'ToolExecutionSucceeded':
      return withOutcome(approval, { ok: true, result: event.data.result, ...outcome(event.data), ...happened });
    case 'ToolExecutionFailed':
      return withOutcome(approval, { ok: false, error: event.data.error, ...outcome(event.data), ...happened });
    case 'TurnResumed':
    case 'LeaseExtended':
    case 'LeaseGivenBack':
      return { ...approval, lease: leaseAfter(event, fact), seq };
    case 'DecisionRefused':
    case 'PolicyEvaluationFailed':
    case 'ToolApprovalRequested':
    case 'TurnEnded':
      return approval;
    default:
      return unreachable(event);
  }
}

const withoutId = <Data extends { readonly approvalId: ApprovalId }>({ approvalId: _, ...data }: Data) => data;

type StepEvent = Extract<
  HoldpointEvent,
  { type: 'ApprovalVoteCast' | 'ApprovalVoteWithdrawn' | 'ApprovalEscalated' | 'ApprovalHoldEnded' }
>;

function stepOf(event: StepEvent, happened: Happened): Step {
  switch (event.type) {
    case 'ApprovalVoteCast':
      return { is: 'vote', ...withoutId(event.data), ...happened };
    case 'ApprovalVoteWithdrawn':
      return { is: 'withdrawn', ...withoutId(event.data), ...happened };
    case 'ApprovalEscalated':
      return { is: 'escalated', ...withoutId(event.data), ...happened };
    case 'ApprovalHoldEnded':
      return { is: 'hold-ended', ...withoutId(event.data), ...happened };
    default:
      return unreachable(event);
  }
}

const withOutcome = (approval: Approval, outcome: Outcome): Approval => ({ ...approval, outcome, seq: outcome.seq });

const outcome = (data: { attempt: number; durationMs?: number; settledBecause?: string }) => ({
  settled: data.settledBecause !== undefined,
  attempt: data.attempt,
  ...(data.durationMs === undefined ? {} : { durationMs: data.durationMs }),
});
