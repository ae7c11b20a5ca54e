import type { HoldpointEvent } from '#contracts/events';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { knownCall, onCall, readCallToUse, type AboutCall, type CallRule, type CallState } from './call.js';

/** What a grant approved and nobody has used yet ends with it. */
export function revokeEndedGrant(command: AboutCall, state: CallState): Answer<HoldpointEvent, never> {
  const { approval, grantEnd } = knownCall(command, state) ?? {};
  if (!approval || !grantEnd || approval.decision?.is !== 'approved' || approval.use) return nothingToDo;
  const reason = grantEnd.reason ?? 'The grant that approved it was ended';
  return accept({ type: 'ToolApprovalRevoked', data: { approvalId: command.approvalId, reason, turnEnded: false } });
}

export const revokingEndedGrant: CallRule<AboutCall, object> = onCall(revokeEndedGrant, readCallToUse);
