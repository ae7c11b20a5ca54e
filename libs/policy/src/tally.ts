import type { RequestedToolCall } from '#contracts/turns/events';
import type { Approval, Step, VoteStep } from '#fold/approval';
import type { Closing } from '#fold/closing';
import { nearestTally, quorumsNow } from './asked.js';
import type { Person } from './person.js';
import { needsOneOnly, type Tally } from './quorum.js';
import type { Ruling } from './ruling.js';
import { isBy, personOf, standing } from './votes.js';

/** A call that is voted on, and the story of it so far. */
export interface Voted {
  readonly ruling: Pick<Ruling, 'requirement'>;
  readonly approval: Pick<Approval, 'steps'>;
  readonly call: Pick<RequestedToolCall, 'argsDigest'>;
}

/** Where more than one is needed, whoever edited the arguments fills no place (design 4.5). */
export function approvalsThatCount({ ruling, approval, call }: Voted): readonly Person[] {
  const { approvals, proposal } = standing(approval.steps, call);
  const { editor } = proposal;
  const alone = quorumsNow(ruling.requirement, approval.steps).every(needsOneOnly);
  return approvals.filter((vote) => alone || editor === undefined || !isBy(vote, editor)).map(personOf);
}

/** How near the approvals are to what is required now. */
export const tallyOf = (voted: Voted): Tally =>
  nearestTally(quorumsNow(voted.ruling.requirement, voted.approval.steps), approvalsThatCount(voted));

/** As it would be with one step more. */
export const withStep = <Story extends Voted>(voted: Story, step: Step): Story => ({
  ...voted,
  approval: { ...voted.approval, steps: [...voted.approval.steps, step] },
});

/** In whose name, and in whose words, it was closed: the last of those whose votes stand for it. */
export function lastWord({ as }: Closing, { approval, call }: Voted): VoteStep {
  const { approvals, denials } = standing(approval.steps, call);
  const last = (as === 'approved' ? approvals : denials).at(-1);
  if (!last) throw new Error(`It was closed as ${as}, and nobody voted so`);
  return last;
}
