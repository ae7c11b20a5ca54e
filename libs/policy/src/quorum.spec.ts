import { describe, expect, it } from '@jest/globals';
import type { Quorum } from '#contracts/policies/policy';
import type { Person } from './person.js';
import { countWays, couldBeMet, isAsked, isAskedNow, needsOneOnly, tally, waysOf } from './quorum.js';

const person = (subject: string, ...groups: string[]): Person => ({ subject, groups });
const [ada, bob, cyd] = [person('ada', 'ops', 'pay'), person('bob', 'ops'), person('cyd', 'pay')] as const;
const dan = person('dan');
const [ops, pay]: [Quorum, Quorum] = [
  { count: 1, groups: ['ops'] },
  { count: 1, groups: ['pay'] },
];
const named = (...subjects: string[]): Quorum => ({ count: 1, subjects });
const isMet = (quorum: Quorum, ...approvals: Person[]) => tally(quorum, approvals).met;

describe('a count', () => {
  const two: Quorum = { count: 2, groups: ['ops'] };
  it('is met by so many', () => expect(tally(two, [ada, bob])).toEqual({ have: 2, need: 2, met: true }));
  it('is not by fewer', () => expect(tally(two, [ada])).toEqual({ have: 1, need: 2, met: false }));
  it('does not count others', () => expect(tally(two, [ada, cyd, dan])).toEqual({ have: 1, need: 2, met: false }));
  it('of anybody counts anybody', () => expect(isMet({ count: 2 }, cyd, dan)).toBe(true));
});

describe('all', () => {
  const both: Quorum = { all: [ops, pay] };
  it('is met by one of each', () => expect(isMet(both, bob, cyd)).toBe(true));
  it('is not by one who is in both', () => expect(tally(both, [ada])).toEqual({ have: 1, need: 2, met: false }));
  it('lets who is in both stand for the one that is missing', () => expect(isMet(both, ada, bob)).toBe(true));
  it('asks for different people even where the same are named', () =>
    expect(isMet({ all: [named('ada'), named('ada', 'bob')] }, ada)).toBe(false));
  it('can hold any', () => expect(isMet({ all: [ops, { any: [named('dan'), pay] }] }, bob, dan)).toBe(true));
});

describe('any', () => {
  const either: Quorum = { any: [named('dan'), { all: [ops, pay] }] };
  it('is met by the one', () => expect(isMet(either, dan)).toBe(true));
  it('is met by the other', () => expect(isMet(either, bob, cyd)).toBe(true));
  it('is not by a part of each', () =>
    expect(isMet({ any: [{ all: [ops, pay] }, { count: 3 }] }, bob, dan)).toBe(false));
  it('tells of the one that is nearest', () => expect(tally(either, [])).toEqual({ have: 0, need: 1, met: false }));
  it('tells of the one that somebody voted for, where two are as near', () =>
    expect(tally(either, [bob])).toEqual({ have: 1, need: 2, met: false }));
});

describe('in order', () => {
  const order: Quorum = { inOrder: [ops, pay] };
  it('is met by votes in that order', () => expect(isMet(order, bob, cyd)).toBe(true));
  it('is not in the other', () => expect(tally(order, [cyd, bob])).toEqual({ have: 1, need: 2, met: false }));
  it('gives one person one place, over all stages', () => expect(isMet(order, ada)).toBe(false));
  it('does not look back at who came too early', () =>
    expect(tally({ inOrder: [ops, named('dan')] }, [dan, bob])).toEqual({ have: 1, need: 2, met: false }));
  it('passes over who is not needed', () => expect(isMet(order, dan, bob, dan, cyd)).toBe(true));
  it('asks those of the stage that is open', () => {
    expect([ada, bob, cyd, dan].map((one) => isAskedNow(order, [], one))).toEqual([true, true, false, false]);
    expect([ada, bob, cyd, dan].map((one) => isAskedNow(order, [bob], one))).toEqual([true, false, true, false]);
  });
  it('asks nobody once it is met', () => expect(isAskedNow(order, [bob, cyd], ada)).toBe(false));
  it('lets those of every stage say no', () =>
    expect([ada, bob, cyd, dan].map((one) => isAsked(order, one))).toEqual([true, true, true, false]));
});

describe('one answer is enough', () => {
  it.each<[string, Quorum]>([
    ['where one is asked for', { count: 1 }],
    ['where either of two is', { any: [ops, named('dan')] }],
    ['in one stage of one', { inOrder: [ops] }],
    ['where all is one', { all: [ops] }],
    ['where one no is said to be', { count: 1, denyCount: 1 }],
  ])('%s', (_, quorum) => expect(needsOneOnly(quorum)).toBe(true));
  it.each<[string, Quorum]>([
    ['where two are asked for', { count: 2 }],
    ['where either way may need two', { any: [ops, { count: 2 }] }],
    ['in two stages', { inOrder: [ops, pay] }],
    ['in one stage of two', { inOrder: [{ count: 2 }] }],
    ['where all are two', { all: [ops, pay] }],
    ['where two must say no', { count: 1, denyCount: 2 }],
  ])('but not %s', (_, quorum) => expect(needsOneOnly(quorum)).toBe(false));
});

describe('what can never be met', () => {
  const without =
    (...names: string[]) =>
    (subject: string) =>
      names.includes(subject);
  it.each<[string, Quorum]>([
    ['two of one name', { count: 2, subjects: ['ada'] }],
    ['two of one name in two forms', { count: 2, subjects: ['Zo\u00cb', 'zoe\u0308'] }],
    ['one person in two places', { all: [named('ada'), named('ada')] }],
    ['three places for two', { all: [{ count: 2, subjects: ['ada', 'bob'] }, named('bob', 'ada')] }],
    ['one person in two stages', { inOrder: [named('ada'), named('ada')] }],
    [
      'no way that can',
      {
        any: [
          { count: 2, subjects: ['ada'] },
          { count: 3, subjects: ['ada', 'bob'] },
        ],
      },
    ],
  ])('%s', (_, quorum) => expect(couldBeMet(quorum)).toBe(false));
  it.each<[string, Quorum]>([
    ['a group, whoever is in it', { count: 20, groups: ['ops'] }],
    ['anybody', { count: 20 }],
    ['a name or a group', { count: 2, subjects: ['ada'], groups: ['ops'] }],
    ['one way that can', { any: [{ count: 2, subjects: ['ada'] }, named('ada')] }],
    ['two in two stages', { inOrder: [named('ada', 'bob'), named('ada')] }],
  ])('is not %s', (_, quorum) => expect(couldBeMet(quorum)).toBe(true));
  it('is what only excluded people could meet', () => expect(couldBeMet(named('Ada'), without('ada'))).toBe(false));
  it('is what needs one of them', () =>
    expect(couldBeMet({ count: 2, subjects: ['ada', 'bob', 'cyd'] }, without('ada', 'cyd'))).toBe(false));
  it('is not what the others are enough for', () =>
    expect(couldBeMet({ count: 2, subjects: ['ada', 'bob', 'cyd'] }, without('ada'))).toBe(true));
  it('is not looked for where stages combine in more ways than can be tried', () => {
    const eleven = { any: [...'abcdefghijk'].map((name) => named(name)) };
    expect(couldBeMet({ inOrder: [eleven, eleven, eleven, named('a'), named('a')] })).toBe(true);
  });
});

describe('ways', () => {
  it('are as many as are counted', () => {
    const quorum: Quorum = { all: [{ any: [ops, pay, { count: 2 }] }, ops, { any: [ops, { all: [pay, pay] }] }] };
    expect([waysOf(quorum).length, countWays(quorum)]).toEqual([6, 6]);
  });
});
