import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { lapsesAt } from '#fold/requirement';
import { conversationOf, knownCall, readCall, type AboutCall, type CallState } from './call.js';

/** An approval that nobody used in time is worth nothing any more. */
export function lapseApproval(
  command: AboutCall,
  state: CallState,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  const { decision, use } = known?.approval ?? {};
  if (!known || decision?.is !== 'approved' || use) return nothingToDo;
  if (now < lapsesAt(known.turn.request, decision.at)) return nothingToDo;
  return accept({ type: 'ToolApprovalLapsed', data: { approvalId: command.approvalId } });
}

export const lapsing: Rule<AboutCall, CallState, object> = {
  read: readCall,
  decide: lapseApproval,
  correlate: conversationOf,
};
