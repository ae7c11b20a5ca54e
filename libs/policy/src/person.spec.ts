import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GROUPS, NAMES, people, SAME } from './arbitraries-for-spec.js';
import { mayFill, placesFilled, type Person, type Place } from './person.js';

const person = (subject: string, ...groups: string[]): Person => ({ subject, groups });

describe('a place', () => {
  it('that names nobody is for anybody', () => expect(mayFill({}, person('ada'))).toBe(true));
  it('is for those of one of its groups', () =>
    expect(mayFill({ groups: ['ops', 'pay'] }, person('ada', 'pay'))).toBe(true));
  it('is not for those of others', () =>
    expect(mayFill({ groups: ['ops'] }, person('ada', 'pay', 'opsx', 'OPS'))).toBe(false));
  it('is for those it names', () => expect(mayFill({ subjects: ['bob', 'ada'] }, person('ada'))).toBe(true));
  it('is not for others', () => expect(mayFill({ subjects: ['bob'] }, person('ada', 'bob'))).toBe(false));
  it('with groups and names is for both', () => {
    const place = { groups: ['ops'], subjects: ['ada'] };
    expect([person('ada'), person('bob', 'ops'), person('cyd', 'pay')].map((one) => mayFill(place, one))).toEqual([
      true,
      true,
      false,
    ]);
  });
  it('knows a person in whatever case and form the name is written', () =>
    expect(mayFill({ subjects: ['Zo\u00cb@example.com'] }, person('zoe\u0308@EXAMPLE.com'))).toBe(true));
});

describe('people fill places', () => {
  const [ops, pay]: [Place, Place] = [{ groups: ['ops'] }, { groups: ['pay'] }];

  it('one each, though in two groups', () => expect(placesFilled([ops, pay], [person('ada', 'ops', 'pay')])).toBe(1));
  it('moving on for one who has no other', () =>
    expect(placesFilled([ops, pay], [person('ada', 'ops', 'pay'), person('bob', 'ops')])).toBe(2));
  it('moving on over several', () => {
    const three = [person('ada', 'ops', 'pay'), person('bob', 'pay', 'law'), person('cyd', 'ops')];
    expect(placesFilled([ops, pay, { groups: ['law'] }], three)).toBe(3);
  });
  it('no more than there are', () => expect(placesFilled([ops], [person('ada', 'ops'), person('bob', 'ops')])).toBe(1));
  it('none without people', () => expect(placesFilled([ops], [])).toBe(0));
  it('none where there are none', () => expect(placesFilled([], [person('ada')])).toBe(0));
});

describe('whatever the places and people', () => {
  const place: fc.Arbitrary<Place> = fc.record(
    { groups: fc.subarray(GROUPS, { minLength: 1 }), subjects: fc.subarray(NAMES, { minLength: 1 }) },
    { requiredKeys: [] },
  );
  const places = fc.array(place, { maxLength: 5 });
  const mostByTrying = ([first, ...others]: readonly Place[], from: readonly Person[]): number => {
    if (!first) return 0;
    const seated = from.filter((one) => mayFill(first, one));
    const without = mostByTrying(others, from);
    return Math.max(
      without,
      ...seated.map(
        (one) =>
          1 +
          mostByTrying(
            others,
            from.filter((other) => other !== one),
          ),
      ),
    );
  };

  it('as many are filled as can be', () =>
    fc.assert(
      fc.property(places, people, (some, all) => expect(placesFilled(some, all)).toBe(mostByTrying(some, all))),
      { ...SAME, numRuns: 200 },
    ));
  it('one more person never empties one', () =>
    fc.assert(
      fc.property(places, people, (some, all) =>
        expect(placesFilled(some, all.slice(1))).toBeLessThanOrEqual(placesFilled(some, all)),
      ),
      SAME,
    ));
});
