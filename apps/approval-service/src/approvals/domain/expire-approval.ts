import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { expiresAt } from '#fold/requirement';
import { conversationOf, decisionOn, knownCall, readCall, type AboutCall, type CallState } from './call.js';

/** Nobody decided in time. Written only past the deadline, so that a person before it can never be told `late`. */
export function expireApproval(
  command: AboutCall,
  state: CallState,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  if (!known || known.approval.decision) return nothingToDo;
  if (now < expiresAt(known.turn.request, known.turn.requestedAt)) return nothingToDo;
  return accept({ type: 'ToolApprovalDecided', data: { ...decisionOn(known, command), decision: 'expired' } });
}

export const expiring: Rule<AboutCall, CallState, object> = {
  read: readCall,
  decide: expireApproval,
  correlate: conversationOf,
};
