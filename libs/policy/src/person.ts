import { isSamePerson } from '#contracts/ids';

/** Who votes, or could: as the token said it when they did. */
export interface Person {
  readonly subject: string;
  readonly groups: readonly string[];
}

/** One place that a person can fill; without groups and subjects, anybody can. */
export interface Place {
  readonly groups?: readonly string[];
  readonly subjects?: readonly string[];
}

export function mayFill({ groups, subjects }: Place, person: Person): boolean {
  if (!groups && !subjects) return true;
  const isNamed = subjects?.some((subject) => isSamePerson(subject, person.subject));
  return isNamed === true || groups?.some((group) => person.groups.includes(group)) === true;
}

/**
 * How many places can be filled by these people, each of whom fills one at most: the largest matching, found by letting
 * whoever has a place move on to another one of theirs.
 */
export function placesFilled(places: readonly Place[], people: readonly Person[]): number {
  const holders: (number | undefined)[] = places.map(() => undefined);
  const seat = (person: number, tried: Set<number>): boolean =>
    places.some((place, at) => {
      const someone = people[person];
      if (!someone || tried.has(at) || !mayFill(place, someone)) return false;
      tried.add(at);
      const holder = holders[at];
      if (holder !== undefined && !seat(holder, tried)) return false;
      holders[at] = person;
      return true;
    });
  return people.filter((_, person) => seat(person, new Set())).length;
}
