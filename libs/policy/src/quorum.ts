import { samePerson } from '#contracts/ids';
import type { Quorum } from '#contracts/policies/policy';
import { mayFill, placesFilled, type Person, type Place } from './person.js';

/** More than these is no quorum that anybody could read. */
export const MOST_PLACES = 20;
export const MOST_WAYS = 100;
const MOST_COMBINATIONS = 1_000;

/** One way to meet a quorum: these places, each filled by somebody else. */
type Way = readonly Place[];

/** What must be met one after the other; each by one of its ways. */
type Stage = readonly Way[];

const stagesOf = (quorum: Quorum): readonly Stage[] => (quorum.inOrder ?? [quorum]).map(waysOf);

/** Every combination of places that meets it. */
export function waysOf(quorum: Quorum): readonly Way[] {
  if (quorum.any) return quorum.any.flatMap(waysOf);
  if (quorum.all) return quorum.all.map(waysOf).reduce(everyPair, [[]]);
  const { count = 1, groups, subjects } = quorum;
  const place = { ...(groups ? { groups } : {}), ...(subjects ? { subjects } : {}) };
  return [Array.from({ length: count }, () => place)];
}

/** How many ways there are, without making them. */
export function countWays({ all, any }: Quorum): number {
  if (any) return any.reduce((sum, one) => sum + countWays(one), 0);
  return (all ?? []).reduce((product, one) => product * countWays(one), 1);
}

const everyPair = (some: readonly Way[], others: readonly Way[]): readonly Way[] =>
  some.flatMap((one) => others.map((other) => [...one, ...other]));

/** Of the way that is nearest to being met. */
export interface Tally {
  readonly have: number;
  readonly need: number;
  readonly met: boolean;
}

/** How far these approvals go, in the order in which they came: each stage is met by those after the stage before it was. */
export function tally(quorum: Quorum, approvals: readonly Person[]): Tally {
  let have = 0;
  let need = 0;
  let waiting = approvals;
  for (const ways of stagesOf(quorum)) {
    const enough = whenMet(ways, waiting);
    const stage = nearest(ways, enough === undefined ? waiting : waiting.slice(0, enough));
    have += stage.have;
    need += stage.need;
    waiting = enough === undefined ? [] : waiting.slice(enough);
  }
  return { have, need, met: have === need };
}

/** After how many of them a stage is met, if it is. */
function whenMet(ways: Stage, approvals: readonly Person[]): number | undefined {
  for (let count = 0; count <= approvals.length; count += 1)
    if (nearest(ways, approvals.slice(0, count)).met) return count;
  return undefined;
}

function nearest(ways: Stage, approvals: readonly Person[]): Tally {
  const tallies = ways.map((way) => {
    const have = placesFilled(way, approvals);
    return { have, need: way.length, met: have === way.length };
  });
  return tallies.reduce(nearer);
}

/** Of two as far from being met, the one that more have gone: so that a vote shows. */
export function nearer(best: Tally, one: Tally): Tally {
  const closer = leftOf(best) - leftOf(one);
  return closer > 0 || (closer === 0 && one.have > best.have) ? one : best;
}

const leftOf = ({ have, need }: Tally): number => need - have;

/** Whether this person's approval can count now: with `inOrder` the stages before theirs must be met. */
export function isAskedNow(quorum: Quorum, approvals: readonly Person[], person: Person): boolean {
  let waiting = approvals;
  for (const ways of stagesOf(quorum)) {
    const enough = whenMet(ways, waiting);
    if (enough === undefined) return isAskedIn(ways, person);
    waiting = waiting.slice(enough);
  }
  return false;
}

/** Whether this person has a place anywhere in it: then they may say no at any time. */
export const isAsked = (quorum: Quorum, person: Person): boolean =>
  stagesOf(quorum).some((ways) => isAskedIn(ways, person));

const isAskedIn = (ways: Stage, person: Person): boolean =>
  ways.some((way) => way.some((place) => mayFill(place, person)));

/** Nobody's no or yes waits for another's: each is the answer by itself. */
export function needsOneOnly(quorum: Quorum): boolean {
  const stages = stagesOf(quorum);
  return (quorum.denyCount ?? 1) === 1 && stages.length === 1 && stages.flat().every((way) => way.length === 1);
}

/**
 * Whether it could be met at all, as far as names alone can say: places that only named people may fill must have enough
 * of them, over all stages. Who belongs to a group is not known here.
 */
export function couldBeMet(quorum: Quorum, isExcluded: (subject: string) => boolean = () => false): boolean {
  return wholeOf(stagesOf(quorum)).every((ways) => ways.some((way) => couldFill(way.filter(isByName), isExcluded)));
}

/** All stages as one; each by itself where there are too many combinations to look through. */
function wholeOf(stages: readonly Stage[]): readonly Stage[] {
  const combinations = stages.reduce((product, ways) => product * ways.length, 1);
  return combinations > MOST_COMBINATIONS ? stages : [stages.reduce(everyPair, [[]])];
}

/** How many different people have a place in any of these; not known where a place is for a group, or for anybody. */
export function peopleNamed(quorums: readonly Quorum[]): number | undefined {
  const places = quorums.flatMap(stagesOf).flat(2);
  return places.every(isByName) ? namesIn(places).size : undefined;
}

const namesIn = (places: Way): ReadonlySet<string> =>
  new Set(places.flatMap(({ subjects = [] }) => subjects.map(samePerson)));

const isByName = ({ groups, subjects }: Place): boolean => !groups && subjects !== undefined;

function couldFill(places: Way, isExcluded: (subject: string) => boolean): boolean {
  const people = [...namesIn(places)].filter((name) => !isExcluded(name)).map((subject) => ({ subject, groups: [] }));
  return placesFilled(places, people) === places.length;
}
