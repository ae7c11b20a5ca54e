import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { usableUntil } from '#fold/usable';
import { knownCall, onCall, type AboutCall, type CallRule, type CallState } from './call.js';

/** An approval that nobody used in time is worth nothing any more. */
export function lapseApproval(
  command: AboutCall,
  state: CallState,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  const { decision, use } = known?.approval ?? {};
  if (!known || decision?.is !== 'approved' || use) return nothingToDo;
  if (now < usableUntil(decision)) return nothingToDo;
  return accept({ type: 'ToolApprovalLapsed', data: { approvalId: command.approvalId } });
}

export const lapsing: CallRule<AboutCall, object> = onCall(lapseApproval);
