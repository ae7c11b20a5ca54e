import type { Recorded } from '#contracts/envelope';
import { isSetting, type HoldpointEvent } from '#contracts/events';
import { approvalIdOf, indexOfApproval, isApprovalId, type ApprovalId } from '#contracts/ids';
import type { ToolApprovalRequested, TurnEnd } from '#contracts/turns/events';
import { unreachable } from '#decider/decider';

/** What is kept of a turn to tell its story: no arguments, so that thousands can be kept. */
export interface ToldTurn {
  readonly turnId: string;
  readonly agentId: string;
  readonly pool: string;
  readonly calls: readonly { readonly toolCallId: string; readonly toolName: string }[];
  /** The place in the log of each call's decision, as far as known. */
  readonly decidedAt: readonly (number | undefined)[];
}

export interface Message {
  readonly type: string;
  readonly turnId: string;
  readonly [field: string]: unknown;
}

/** What a conversation's stream says of one fact (contract section 5): a function of the log alone, so a replay says the same. */
export function messagesOf({ event, seq }: Recorded<HoldpointEvent>, turn: ToldTurn): readonly Message[] {
  if (isSetting(event)) return [];
  switch (event.type) {
    case 'ToolApprovalRequested':
      return asked(event.data);
    case 'ToolApprovalDecided': {
      const { approvalId, decision, reason = null } = event.data;
      return [decided(turn, approvalId, decision, reason), ...(allDecided(turn, seq) ? [status(turn, 'ready')] : [])];
    }
    case 'ToolApprovalRevoked':
      return [decided(turn, event.data.approvalId, 'revoked', event.data.reason)];
    case 'ToolApprovalLapsed':
      return [decided(turn, event.data.approvalId, 'lapsed', null)];
    case 'ToolExecutionStarted':
      return [ofCall(turn, 'tool_executing', event.data.approvalId)];
    case 'ToolExecutionSucceeded':
      return [ofCall(turn, 'tool_complete', event.data.approvalId, { result: event.data.result })];
    case 'ToolExecutionFailed':
      return [ofCall(turn, 'tool_error', event.data.approvalId, { error: event.data.error })];
    case 'TurnResumed':
      return isApprovalId(event.data.key) && !allDecided(turn, seq) ? [] : [status(turn, 'continuing')];
    case 'LeaseGivenBack':
      return isApprovalId(event.data.key) ? [] : [status(turn, 'ready')];
    case 'TurnEnded':
      return [status(turn, event.data.status), { type: 'complete', turnId: turn.turnId }];
    case 'LeaseExtended':
    case 'ApprovalVoteCast':
    case 'ApprovalVoteWithdrawn':
    case 'ApprovalEscalated':
    case 'ApprovalHoldEnded':
    case 'PolicyEvaluationFailed':
    case 'DecisionRefused':
      return [];
    default:
      return unreachable(event);
  }
}

function asked({ turnId, turnKey, toolCalls }: ToolApprovalRequested): readonly Message[] {
  const calls = toolCalls.map(({ toolCallId, toolName, args }) => ({
    id: toolCallId,
    name: toolName,
    arguments: JSON.stringify(args),
  }));
  const questions = toolCalls.map(({ toolCallId, toolName, args }, index) => ({
    type: 'tool_approval_required',
    turnId,
    approvalId: approvalIdOf(turnKey, index),
    toolCallId,
    toolName,
    arguments: args,
  }));
  return [{ type: 'tool_calls', turnId, calls }, ...questions, status({ turnId }, 'awaiting-approval')];
}

const decided = (turn: ToldTurn, approvalId: ApprovalId, decision: string, reason: string | null): Message => ({
  type: 'tool_approval_decided',
  turnId: turn.turnId,
  approvalId,
  toolCallId: callOf(turn, approvalId).toolCallId,
  approved: decision === 'approved',
  decision,
  reason,
});

function ofCall(turn: ToldTurn, type: string, approvalId: ApprovalId, more: object = {}): Message {
  const { toolCallId, toolName } = callOf(turn, approvalId);
  return { type, turnId: turn.turnId, id: toolCallId, name: toolName, ...more };
}

function callOf(turn: ToldTurn, approvalId: ApprovalId): ToldTurn['calls'][number] {
  const call = turn.calls[indexOfApproval(approvalId)];
  if (!call) throw new Error(`The turn ${turn.turnId} has no call for ${approvalId}`);
  return call;
}

const status = ({ turnId }: Pick<ToldTurn, 'turnId'>, is: TurnEnd | 'awaiting-approval' | 'ready' | 'continuing') => ({
  type: 'status',
  turnId,
  status: is,
});

const allDecided = ({ decidedAt }: ToldTurn, seq: number): boolean =>
  decidedAt.every((decision) => decision !== undefined && decision <= seq);

/** For who may read all but arguments: what tools were given and gave is left out. */
export const withoutContents = (message: Message): Message => {
  const { arguments: _, result: __, error: ___, calls, ...rest } = message;
  const bare = Array.isArray(calls) ? { calls: calls.map((call: object) => ({ ...call, arguments: undefined })) } : {};
  return { ...rest, ...bare };
};
