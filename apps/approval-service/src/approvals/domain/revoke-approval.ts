import type { RevokeApproval } from '#contracts/approvals/commands';
import type { HoldpointEvent } from '#contracts/events';
import { isSamePerson, type Instant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { accept, nothingToDo, refuse, unreachable, type Answer } from '#decider/decider';
import type { Use } from '#fold/approval';
import { usableUntil } from '#fold/usable';
import { mayNotDecide } from '#policy/may-decide';
import { knownCall, notFound, onCall, winnerOf, type ByCaller, type CallRule, type CallState } from './call.js';

type Context = ByCaller & { readonly now: Instant };

/** Takes an approval back before the tool began. */
export function revokeApproval(
  command: RevokeApproval,
  state: CallState,
  { caller, now }: Context,
): Answer<HoldpointEvent, Refusal> {
  const known = knownCall(command, state);
  if (!known) return refuse(notFound());
  const { decision, use } = known.approval;
  if (!decision) return refuse(refusal('not-ready', 'It is not decided yet: deny it instead'));
  if (decision.is !== 'approved')
    return refuse(refusal('superseded', `It was ${decision.is}`, { winner: winnerOf(decision) }));
  const notTheirs = mayNotDecide(known, caller, 'take-back', caller.roles.includes('admin'));
  if (notTheirs) return refuse(notTheirs);
  if (use) return afterUse(use, caller);
  const until = usableUntil(decision);
  if (now >= until)
    return refuse(refusal('lapsed', `It could be used until ${until}: nothing can run any more`, { at: until }));
  const { approvalId, reason } = command;
  return accept({ type: 'ToolApprovalRevoked', data: { approvalId, reason, turnEnded: false } });
}

function afterUse(use: Use, caller: Caller): Answer<never, Refusal> {
  const { by, at } = use;
  switch (use.is) {
    case 'started':
      return refuse(refusal('already-used', `${by} began it at ${at}`, { by, at }));
    case 'revoked':
      return isSamePerson(by, caller.subject)
        ? nothingToDo
        : refuse(refusal('revoked', `${by} took it back at ${at}`, { by, at }));
    case 'lapsed':
      return refuse(refusal('lapsed', 'The approval was not used in time: nothing can run any more', { at }));
    default:
      return unreachable(use);
  }
}

export const revoking: CallRule<RevokeApproval, ByCaller> = onCall(revokeApproval);
