import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { closingOf } from '#fold/closing';
import { knownCall, onCall, type AboutCall, type CallRule, type CallState } from './call.js';

/** Nobody withdrew in time. It is a step of its own, so that a withdrawal of the same moment can be first, or this, never both. */
export function endHold(
  command: AboutCall,
  state: CallState,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  const heldUntil = closingOf(state.approval.steps)?.heldUntil;
  if (!known || known.approval.decision || known.turn.end || heldUntil === undefined || now < heldUntil)
    return nothingToDo;
  const { approvalId } = command;
  return accept({ type: 'ApprovalHoldEnded', data: { approvalId, n: known.approval.steps.length + 1 } });
}

export const endingHold: CallRule<AboutCall, object> = onCall(endHold);
