import type { ContinueConversation } from '#contracts/continuations/events';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, type ApprovalId } from '#contracts/ids';
import type { ToolApprovalRequested } from '#contracts/turns/events';
import type { Approval } from '#fold/approval';
import type { WholeTurn } from '#fold/read';
import { isClosed, mayGoOn } from '#fold/status';
import type { KnownTurn } from '#fold/turn';

/** A fact that can let a conversation go on: an approval was decided, taken back, lapsed, or its tool reported. */
export type Closing = Extract<
  HoldpointEvent,
  {
    type:
      | 'ToolApprovalDecided'
      | 'ToolApprovalRevoked'
      | 'ToolApprovalLapsed'
      | 'ToolExecutionSucceeded'
      | 'ToolExecutionFailed';
  }
>;

const CLOSING: ReadonlySet<string> = new Set<Closing['type']>([
  'ToolApprovalDecided',
  'ToolApprovalRevoked',
  'ToolApprovalLapsed',
  'ToolExecutionSucceeded',
  'ToolExecutionFailed',
]);

export const isClosing = (event: HoldpointEvent): event is Closing => CLOSING.has(event.type);

/** What one fact lets go on: the turn as a whole, or the call that the fact is about. */
export const react = (event: Closing, whole: WholeTurn): readonly ContinueConversation[] =>
  continuationsDue(whole).filter(({ kind, approvalId }) => kind === 'turn' || approvalId === event.data.approvalId);

/** Every continuation that there must be for a turn as it stands (design 4.8). */
export function continuationsDue({ turn, approvals }: WholeTurn): readonly ContinueConversation[] {
  if (turn.state === 'ended') return [];
  const calls = turn.request.release === 'each' ? approvals.flatMap((one, index) => callDue(turn, one, index)) : [];
  return mayGoOn(turn, approvals) ? [...calls, continuationOfTurn(turn.request)] : calls;
}

/** Also of a call that began: where it is in doubt, and may run again, it is offered once more. */
const callDue = (turn: KnownTurn, approval: Approval, index: number): readonly ContinueConversation[] =>
  approval.decision?.is === 'approved' && !isClosed(approval)
    ? [continuationOfCall(turn.request, approvalIdOf(turn.request.turnKey, index))]
    : [];

export const continuationOfTurn = (request: ToolApprovalRequested): ContinueConversation => ({
  ...place(request),
  key: request.turnKey,
  kind: 'turn',
});

export const continuationOfCall = (request: ToolApprovalRequested, approvalId: ApprovalId): ContinueConversation => ({
  ...place(request),
  key: approvalId,
  kind: 'call',
  approvalId,
});

const place = ({ turnKey, conversationId, turnId, pool }: ToolApprovalRequested) => ({
  turnKey,
  conversationId,
  turnId,
  pool,
});
