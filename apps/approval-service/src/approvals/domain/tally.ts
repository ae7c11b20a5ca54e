import { refusal, type Refusal } from '#contracts/refusals';
import type { Closing } from '#fold/closing';
import { nearestTally, quorumsNow } from '#policy/asked';
import type { Person } from '#policy/person';
import { needsOneOnly, type Tally } from '#policy/quorum';
import { isBy, personOf, type Standing } from '#policy/votes';
import type { KnownCall } from './call.js';

/** Where more than one is needed, whoever edited the arguments fills no place (design 4.5). */
export function approvalsThatCount(known: KnownCall, { approvals, proposal }: Standing): readonly Person[] {
  const { editor } = proposal;
  const alone = quorumsNow(known.ruling.requirement, known.approval.steps).every(needsOneOnly);
  return approvals.filter((vote) => alone || editor === undefined || !isBy(vote, editor)).map(personOf);
}

/** How near the approvals are to what is required now. */
export const tallyOf = (known: KnownCall, votes: Standing): Tally =>
  nearestTally(quorumsNow(known.ruling.requirement, known.approval.steps), approvalsThatCount(known, votes));

/** Nothing more is needed: what the votes have come to. */
export function closedAlready({ as, heldUntil, vote: { by, at, seq } }: Closing): Refusal {
  const held = heldUntil === undefined ? '' : `, and is held until ${heldUntil}: those who voted for it can withdraw`;
  return refusal('superseded', `It was ${as} already${held}`, { winner: { decision: as, by, at, seq } });
}
