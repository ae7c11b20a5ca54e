import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { readGrantEnd, type Grant } from '#fold/grant';
import { covers } from '#policy/grants';
import { usableFrom } from './answer.js';
import {
  decisionOn,
  isUntouched,
  knownCall,
  onCall,
  readCallToUse,
  type AboutCall,
  type CallRule,
  type CallState,
  type KnownCall,
} from './call.js';

/** A use of a grant that was taken for this approval: slot `n`. */
export interface ApproveByGrant extends AboutCall {
  readonly grant: Grant;
  readonly n: number;
}

/** It is for requests after it, and for none that somebody looks at already, that is frozen, or that is over. */
export function isForGrant(grant: Grant, known: KnownCall, now: Instant): boolean {
  if (!isUntouched(known, now) || known.freeze) return false;
  if (grant.end || known.grantEnd || now >= grant.expiresAt || grant.seq >= known.turn.requestSeq) return false;
  return covers(grant, known);
}

/** What a standing decision approves, in its own name: every use says which grant it was, and whose. */
export function approveByGrant(
  command: ApproveByGrant,
  state: CallState,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  const { grant, n } = command;
  if (!known || !isForGrant(grant, known, now)) return nothingToDo;
  const { usableUntil } = usableFrom(known, now);
  const used = { grantId: grant.grantId, n, by: grant.by };
  const until = usableUntil < grant.expiresAt ? usableUntil : grant.expiresAt;
  return accept({
    type: 'ToolApprovalDecided',
    data: { ...decisionOn(known, command), decision: 'approved', grant: used, usableUntil: until },
  });
}

/** With the end of the grant as it is now: one from before the use was taken can have come after the grant was read. */
export const approvingByGrant: CallRule<ApproveByGrant, object> = (policies) => ({
  ...onCall(approveByGrant)(policies),
  read: async (log, tenant, command) => {
    const [state, grantEnd] = await Promise.all([
      readCallToUse(policies)(log, tenant, command),
      readGrantEnd(log, tenant, command.grant.grantId),
    ]);
    return { ...state, ...(grantEnd ? { grantEnd } : {}) };
  },
});
