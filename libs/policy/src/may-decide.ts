import { isSamePerson } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Approval } from '#fold/approval';
import { isOwnRequest } from '#fold/permission';
import type { KnownTurn } from '#fold/turn';
import { isAskedByAny, isEnoughAlone, isOneAct, quorumsNow } from './asked.js';
import type { Person } from './person.js';
import type { Ruling } from './ruling.js';

/** An answer to this call, one that stands for others like it too (by a grant), or taking an approval back before it is used. */
export type Doing = 'answer' | 'allow-others' | 'take-back';

export interface Judged {
  readonly turn: KnownTurn;
  readonly approval: Approval;
  readonly ruling: Ruling;
}

/**
 * May this person decide this? The one place that says so, for every way in: deciding, voting, remembering, redeeming what
 * somebody remembered, taking back. Never the requester, the agent's owner or whom it acts for; and only who
 * is asked by the requirement as it stands now.
 */
export function mayNotDecide(judged: Judged, who: Person, doing: Doing, isAdmin = false): Refusal | undefined {
  if (doing === 'take-back') return isAdmin ? undefined : notTheirs(judged.approval, who);
  const { turn, approval, ruling } = judged;
  if (isOwnRequest(who.subject, turn)) return refusal('self-approval', 'Nobody decides what they asked for themselves');
  if (!isAskedByAny(quorumsNow(ruling.requirement, approval.steps), who))
    return refusal('forbidden', 'The policy asks others to decide this');
  return doing === 'allow-others' ? notAlone(ruling, who) : undefined;
}

/** Calls to come have reached no stage. */
function notAlone({ requirement }: Ruling, who: Person): Refusal | undefined {
  if (isEnoughAlone(requirement, who)) return undefined;
  return isOneAct(requirement)
    ? refusal('forbidden', 'Only who is asked first, before any stage, can allow calls to come')
    : refusal('forbidden', 'Where one approval is not enough, or is held, none can stand for others');
}

/** What was approved is taken back by whoever approved it or gave the grant that did, or by an admin. */
function notTheirs({ decision }: Approval, { subject }: Person): Refusal | undefined {
  const by = decision?.grant?.by ?? (decision?.byKind === 'person' ? decision.by : undefined);
  if (by !== undefined && isSamePerson(by, subject)) return undefined;
  return refusal('forbidden', `Only ${by ?? 'whoever approved it'} or an admin can take this approval back`);
}
