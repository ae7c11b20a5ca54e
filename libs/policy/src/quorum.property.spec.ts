import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fewest, isMetByTrying, NAMES, people, quorums, SAME, unordered } from './arbitraries-for-spec.js';
import { countWays, couldBeMet, isAsked, isAskedNow, needsOneOnly, tally, waysOf } from './quorum.js';

const always = <Values>(property: fc.IProperty<Values>) => fc.assert(property, SAME);

describe('whatever the quorum and the approvals', () => {
  it('it is met just where trying everything says so', () =>
    always(
      fc.property(quorums, people, (quorum, all) => expect(tally(quorum, all).met).toBe(isMetByTrying(quorum, all))),
    ));
  it('it is never met by fewer people than places', () =>
    always(
      fc.property(quorums, people, (quorum, all) => {
        const { have, need, met } = tally(quorum, all);
        expect(have).toBeLessThanOrEqual(all.length);
        expect(met ? all.length : need).toBeGreaterThanOrEqual(met ? fewest(quorum) : have);
      }),
    ));
  it('taking anybody away never meets it', () =>
    always(
      fc.property(quorums, people, (quorum, all) => {
        const without = all.map(
          (one) =>
            tally(
              quorum,
              all.filter((other) => other !== one),
            ).met,
        );
        if (!tally(quorum, all).met) expect(without).not.toContain(true);
      }),
    ));
  it('in whatever order they come where there is none', () =>
    always(
      fc.property(unordered, people, (quorum, all) =>
        expect(tally(quorum, [...all].reverse()).met).toBe(tally(quorum, all).met),
      ),
    ));
  it('who is not asked makes no difference', () =>
    always(
      fc.property(quorums, people, (quorum, all) =>
        expect(
          tally(
            quorum,
            all.filter((one) => isAsked(quorum, one)),
          ),
        ).toEqual(tally(quorum, all)),
      ),
    ));
  it('who is not asked now makes none now', () =>
    always(
      fc.property(quorums, people, (quorum, [last, ...before]) => {
        if (last && !isAskedNow(quorum, before, last))
          expect(tally(quorum, [...before, last])).toEqual(tally(quorum, before));
      }),
    ));
  it('what those who are left meet could be met without the others', () =>
    always(
      fc.property(quorums, people, (quorum, all) => {
        const isExcluded = (subject: string) => all.every((one) => one.subject !== subject);
        if (tally(quorum, all).met) expect(couldBeMet(quorum, isExcluded)).toBe(true);
      }),
    ));
  it('what could be met without some could be met with them', () =>
    always(
      fc.property(quorums, fc.subarray(NAMES), (quorum, excluded) => {
        if (couldBeMet(quorum, (subject) => excluded.includes(subject))) expect(couldBeMet(quorum)).toBe(true);
      }),
    ));
  it('one answer is enough where any who is asked meets it alone', () =>
    always(
      fc.property(quorums, people, (quorum, all) => {
        if (needsOneOnly(quorum))
          expect(all.map((one) => tally(quorum, [one]).met)).toEqual(all.map((one) => isAsked(quorum, one)));
      }),
    ));
  it('its ways are counted without making them', () =>
    always(fc.property(unordered, (quorum) => expect(countWays(quorum)).toBe(waysOf(quorum).length))));
});
