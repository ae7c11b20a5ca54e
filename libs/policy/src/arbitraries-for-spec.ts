import fc, { type Arbitrary } from 'fast-check';
import type { Quorum } from '#contracts/policies/policy';
import { mayFill, type Person } from './person.js';

// The same seed each time: what is found here can be found again.
export const SAME = { seed: 20_260_301, numRuns: 500 };

export const NAMES = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay'];
export const GROUPS = ['ops', 'pay', 'law'];

const someone: Arbitrary<Person> = fc.record({
  subject: fc.constantFrom(...NAMES),
  groups: fc.subarray(GROUPS),
});

/** Different people in any order. */
export const people: Arbitrary<Person[]> = fc.uniqueArray(someone, {
  selector: ({ subject }) => subject,
  maxLength: 6,
});

const few = (part: Arbitrary<Quorum>) => fc.array(part, { minLength: 1, maxLength: 3 });
const combined = (part: Arbitrary<Quorum>): Arbitrary<Quorum> =>
  fc.oneof(part, fc.record({ all: few(part) }), fc.record({ any: few(part) }));

export const leaf: Arbitrary<Quorum> = fc.record(
  {
    count: fc.integer({ min: 1, max: 3 }),
    groups: fc.subarray(GROUPS, { minLength: 1 }),
    subjects: fc.subarray(NAMES, { minLength: 1 }),
  },
  { requiredKeys: ['count'] },
);
export const unordered: Arbitrary<Quorum> = combined(combined(leaf));
export const quorums: Arbitrary<Quorum> = fc.oneof(unordered, fc.record({ inOrder: few(unordered) }));

/** The fewest people with whom it can be met: said again, in another way than the code says it. */
export function fewest({ all, any, inOrder, count = 1 }: Quorum): number {
  if (any) return Math.min(...any.map(fewest));
  const parts = all ?? inOrder;
  return parts ? parts.map(fewest).reduce((sum, one) => sum + one, 0) : count;
}

/** Whether these approvals meet it, by trying everything. */
export function isMetByTrying({ inOrder, ...quorum }: Quorum, approvals: readonly Person[]): boolean {
  if (!inOrder) return groupsOfPeople(quorum, approvals).size > 0;
  const [stage, ...later] = inOrder;
  if (!stage) return true;
  return Array.from({ length: approvals.length + 1 }, (_, at) => at).some(
    (at) => isMetByTrying(stage, approvals.slice(0, at)) && isMetByTrying({ inOrder: later }, approvals.slice(at)),
  );
}

/** Each set of people that meets it, as the bits of a number. */
function groupsOfPeople({ all, any, count = 1, groups, subjects }: Quorum, from: readonly Person[]): Set<number> {
  if (any) return new Set(any.flatMap((one) => [...groupsOfPeople(one, from)]));
  if (all) return all.map((one) => groupsOfPeople(one, from)).reduce(apart, new Set([0]));
  const place = { ...(groups ? { groups } : {}), ...(subjects ? { subjects } : {}) };
  const single = new Set(from.flatMap((person, at) => (mayFill(place, person) ? [1 << at] : [])));
  return Array.from({ length: count }, () => single).reduce(apart, new Set([0]));
}

const apart = (some: Set<number>, others: Set<number>): Set<number> =>
  new Set([...some].flatMap((one) => [...others].filter((other) => (one & other) === 0).map((other) => one | other)));
