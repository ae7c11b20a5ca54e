import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { readGrantEnd, type Grant, type GrantEnd } from '#fold/grant';
import { covers } from '#policy/grants';
import type { PoliciesInForce } from '#policy/in-force';
import { usableFrom } from './answer.js';
import {
  conversationOf,
  decisionOn,
  isUntouched,
  knownCall,
  readCallToUse,
  type AboutCall,
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
  if (grant.end || now >= grant.expiresAt || grant.seq >= known.turn.requestSeq) return false;
  return covers(grant, known);
}

/** With the end of the grant as it is now: it can have come after the grant was read, and before the use was taken. */
interface Granted extends CallState {
  readonly over?: GrantEnd | undefined;
}

/** What a standing decision approves, in its own name: every use says which grant it was, and whose. */
export function approveByGrant(
  command: ApproveByGrant,
  state: Granted,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  const { grant, n } = command;
  if (!known || state.over || !isForGrant(grant, known, now)) return nothingToDo;
  const { usableUntil } = usableFrom(known, now);
  const used = { grantId: grant.grantId, n, by: grant.by };
  const until = usableUntil < grant.expiresAt ? usableUntil : grant.expiresAt;
  return accept({
    type: 'ToolApprovalDecided',
    data: { ...decisionOn(known, command), decision: 'approved', grant: used, usableUntil: until },
  });
}

export const approvingByGrant = (policies: PoliciesInForce): Rule<ApproveByGrant, Granted, object> => ({
  read: async (log, tenant, command) => {
    const [state, over] = await Promise.all([
      readCallToUse(policies)(log, tenant, command),
      readGrantEnd(log, tenant, command.grant.grantId),
    ]);
    return { ...state, over };
  },
  decide: approveByGrant,
  correlate: conversationOf,
});
