import type { HoldpointEvent } from '#contracts/events';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { closingOf } from '#fold/closing';
import { decisionOn, knownCall, onCall, type AboutCall, type CallRule, type CallState } from './call.js';

/** The turn has ended: what is undecided is cancelled, what is approved and unused is taken back. */
export function closeApproval(command: AboutCall, state: CallState): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  if (!known?.turn.end) return nothingToDo;
  const { decision, use } = known.approval;
  const reason = known.turn.end.reason || 'The turn ended';
  // What the votes have come to is said by whoever concludes them.
  const closed = closingOf(known.approval.steps);
  if (!decision && closed && closed.heldUntil === undefined) return nothingToDo;
  if (!decision)
    return accept({
      type: 'ToolApprovalDecided',
      data: { ...decisionOn(known, command), decision: 'cancelled', reason },
    });
  if (decision.is !== 'approved' || use) return nothingToDo;
  return accept({ type: 'ToolApprovalRevoked', data: { approvalId: command.approvalId, reason, turnEnded: true } });
}

export const closing: CallRule<AboutCall, object> = onCall(closeApproval);
