import { describe, expect, it } from '@jest/globals';
import fc, { type Arbitrary } from 'fast-check';
import { people, quorums, SAME } from './arbitraries-for-spec.js';
import { denialsNeeded, nearestTally } from './asked.js';
import { completed, joined, together, type FullRequirement } from './join.js';
import type { Person } from './person.js';
import { tally } from './quorum.js';

const always = <Values>(property: fc.IProperty<Values>) => fc.assert(property, SAME);

const withDeny = fc
  .tuple(quorums, fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }))
  .map(([quorum, denyCount]) => (denyCount === undefined ? quorum : { ...quorum, denyCount }));
const seconds = fc.integer({ min: 1, max: 20 });
const stages = fc.array(fc.record({ afterSeconds: seconds, approvers: quorums }), { maxLength: 3 });
const requirement: Arbitrary<FullRequirement> = fc
  .record(
    {
      approvers: withDeny,
      expiresInSeconds: seconds,
      onExpiry: fc.constantFrom('deny' as const, 'approve' as const),
      useWithinSeconds: seconds,
      holdSeconds: seconds,
      escalate: stages,
    },
    { requiredKeys: ['approvers'] },
  )
  .map(completed);
const several: Arbitrary<[FullRequirement, ...FullRequirement[]]> = fc.tuple(requirement, requirement, requirement);

/** Whether a requirement can be met by these, so many seconds after the request. */
const isMetAt = (
  { approvers, escalate = [] }: FullRequirement,
  after: number,
  approvals: readonly Person[],
): boolean => {
  const reached = escalate.filter(({ afterSeconds }) => afterSeconds <= after);
  return nearestTally([approvers, ...reached.map((stage) => stage.approvers)], approvals).met;
};

describe('whatever is joined', () => {
  it('no approvals meet all without meeting each', () =>
    always(
      fc.property(fc.array(quorums, { minLength: 1, maxLength: 3 }), people, (parts, approvals) => {
        if (tally(together(parts), approvals).met)
          expect(parts.map((part) => tally(part, approvals).met)).not.toContain(false);
      }),
    ));
  it('nor do they after any escalation', () =>
    always(
      fc.property(several, people, fc.integer({ min: 0, max: 21 }), (parts, approvals, after) => {
        if (isMetAt(joined(parts), after, approvals))
          expect(parts.map((part) => isMetAt(part, after, approvals))).not.toContain(false);
      }),
    ));
  it('no closes it with more denials than one of them', () =>
    always(
      fc.property(several, (parts) => expect(denialsNeeded(joined(parts))).toBe(Math.min(...parts.map(denialsNeeded)))),
    ));
  it('no time is looser than that of each', () =>
    always(
      fc.property(several, (parts) => {
        const { expiresInSeconds, onExpiry, useWithinSeconds, holdSeconds = 0 } = joined(parts);
        for (const part of parts) {
          expect(useWithinSeconds).toBeLessThanOrEqual(part.useWithinSeconds);
          expect(holdSeconds).toBeGreaterThanOrEqual(part.holdSeconds ?? 0);
          if (onExpiry === 'deny') expect(expiresInSeconds).toBeLessThanOrEqual(part.expiresInSeconds);
          else expect(part).toMatchObject({ onExpiry: 'approve' });
          if (onExpiry === 'approve') expect(expiresInSeconds).toBeGreaterThanOrEqual(part.expiresInSeconds);
        }
      }),
    ));
  it('it is the same in any order of equal parts', () =>
    always(fc.property(requirement, (one) => expect(joined([one, one, one])).toEqual(one))));
});
