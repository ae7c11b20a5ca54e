import { approvalIdOf, type Instant } from '#contracts/ids';
import type { ApprovalStatus, TurnStatus } from '#contracts/statuses';
import { callResult, type CallResult } from '#fold/continuation';
import type { WholeTurn } from '#fold/read';
import { approvalStatus, isDecided, turnStatus } from '#fold/status';

export interface CallView {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly status: ApprovalStatus;
}

export interface TurnView {
  readonly turnId: string;
  readonly conversationId: string;
  readonly status: TurnStatus;
  readonly release: string;
  readonly pool: string;
  readonly approvals: readonly CallView[];
  /** Once every call is decided, in the order in which the model asked. */
  readonly results?: readonly CallResult[];
  readonly seq: number;
}

export function turnView({ turn, approvals }: WholeTurn, now: Instant): TurnView {
  const { turnId, conversationId, release, pool, toolCalls } = turn.request;
  const decided = approvals.every(isDecided);
  const results = decided
    ? { results: toolCalls.map((call, index) => callResult(turn, call, index, approvals[index])) }
    : {};
  const status = turnStatus(turn, approvals, now);
  return {
    turnId,
    conversationId,
    status,
    release,
    pool,
    approvals: callViews({ turn, approvals }, now),
    ...results,
    seq: lastSeq({ turn, approvals }),
  };
}

export const callViews = ({ turn, approvals }: WholeTurn, now: Instant): readonly CallView[] =>
  approvals.map((approval, index) => ({
    approvalId: approvalIdOf(turn.request.turnKey, index),
    toolCallId: turn.request.toolCalls[index]?.toolCallId ?? '',
    toolName: turn.request.toolCalls[index]?.toolName ?? '',
    status: approvalStatus(turn, approval, now),
  }));

/** The last fact that is in the answer. */
export const lastSeq = ({ turn, approvals }: WholeTurn): number =>
  Math.max(turn.seq, ...approvals.map(({ seq }) => seq));
