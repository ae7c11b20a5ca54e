import type { Quorum } from '#contracts/policies/policy';
import type { Step } from '#fold/approval';
import type { FullRequirement } from './join.js';
import type { Person } from './person.js';
import { couldBeMet, isAsked, isAskedNow, nearer, needsOneOnly, tally, type Tally } from './quorum.js';

/** Who may meet a requirement now: its approvers, or those of any stage that was reached. */
export const quorumsNow = (
  { approvers, escalate = [] }: FullRequirement,
  steps: readonly Step[],
): readonly Quorum[] => [approvers, ...escalate.slice(0, stageReached(steps)).map((stage) => stage.approvers)];

export const stageReached = (steps: readonly Step[]): number =>
  steps.reduce((stage, step) => (step.is === 'escalated' ? Math.max(stage, step.stage) : stage), 0);

/** Of the quorum that is nearest to being met. */
export const nearestTally = (quorums: readonly Quorum[], approvals: readonly Person[]): Tally =>
  quorums.map((quorum) => tally(quorum, approvals)).reduce(nearer);

export const isAskedByAny = (quorums: readonly Quorum[], person: Person): boolean =>
  quorums.some((quorum) => isAsked(quorum, person));

export const isAskedNowByAny = (quorums: readonly Quorum[], approvals: readonly Person[], person: Person): boolean =>
  quorums.some((quorum) => isAskedNow(quorum, approvals, person));

export const couldAnyBeMet = (quorums: readonly Quorum[], isExcluded: (subject: string) => boolean): boolean =>
  quorums.some((quorum) => couldBeMet(quorum, isExcluded));

/** One person's answer is the decision: no votes, no hold, whatever stage is reached. */
export const isOneAct = ({ approvers, escalate = [], holdSeconds }: FullRequirement): boolean =>
  holdSeconds === undefined && [approvers, ...escalate.map((stage) => stage.approvers)].every(needsOneOnly);

/** One of whom is asked first, and whose answer is the decision. */
export const isEnoughAlone = (requirement: FullRequirement, who: Person): boolean =>
  isOneAct(requirement) && isAsked(requirement.approvers, who);

export const denialsNeeded = ({ approvers }: FullRequirement): number => approvers.denyCount ?? 1;
