import { isSamePerson } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { isOwnRequest } from '#fold/permission';
import { isAskedByAny, quorumsNow } from '#policy/asked';
import type { KnownCall } from './call.js';

/**
 * May this person decide this? The one place that says so, for every way in: deciding, voting, withdrawing, taking back.
 * Never the requester, the agent's owner or whom it acts for; and only who is asked by the requirement as it stands now.
 */
export function mayNotDecide({ turn, approval, ruling }: KnownCall, caller: Caller): Refusal | undefined {
  if (isOwnRequest(caller.subject, turn))
    return refusal('self-approval', 'Nobody decides what they asked for themselves');
  if (!isAskedByAny(quorumsNow(ruling.requirement, approval.steps), caller))
    return refusal('forbidden', 'The policy asks others to decide this');
  return undefined;
}

/** What was approved is taken back by whoever approved it, or by an admin. */
export function mayNotRevoke({ approval: { decision } }: KnownCall, caller: Caller): Refusal | undefined {
  const isTheirs = decision?.byKind === 'person' && isSamePerson(decision.by, caller.subject);
  if (isTheirs || caller.roles.includes('admin')) return undefined;
  return refusal('forbidden', `Only ${decision?.by ?? 'whoever approved it'} or an admin can take this approval back`);
}
