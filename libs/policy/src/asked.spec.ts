import { describe, expect, it } from '@jest/globals';
import type { Instant } from '#contracts/ids';
import type { Quorum, Requirement } from '#contracts/policies/policy';
import type { Step } from '#fold/approval';
import {
  couldAnyBeMet,
  denialsNeeded,
  isAskedByAny,
  isAskedNowByAny,
  isOneAct,
  nearestTally,
  quorumsNow,
  stageReached,
} from './asked.js';
import { completed } from './join.js';
import type { Person } from './person.js';

const of = (...groups: string[]): Quorum => ({ count: 1, groups });
const person = (subject: string, ...groups: string[]): Person => ({ subject, groups });
const escalated = (stage: number): Step => ({
  is: 'escalated',
  stage,
  because: 'time',
  n: stage,
  by: 'timer',
  at: '2026-01-01T12:00:00.000Z' as Instant,
  seq: stage,
  eventId: 'e',
});
const requirement = (more: Partial<Requirement> = {}) => completed({ approvers: of('ops'), ...more });
const staged = requirement({
  escalate: [
    { afterSeconds: 60, approvers: of('lead') },
    { afterSeconds: 120, approvers: of('boss') },
  ],
});

describe('who is asked', () => {
  it('is the approvers at first', () => expect(quorumsNow(staged, [])).toEqual([of('ops')]));
  it('is those of each stage that was reached, beside them', () => {
    expect(quorumsNow(staged, [escalated(1)])).toEqual([of('ops'), of('lead')]);
    expect(quorumsNow(staged, [escalated(1), escalated(2)])).toEqual([of('ops'), of('lead'), of('boss')]);
  });
  it('is none beyond the last', () => expect(quorumsNow(requirement(), [escalated(1)])).toEqual([of('ops')]));
  it('goes by the furthest stage', () =>
    expect([stageReached([]), stageReached([escalated(2), escalated(1)])]).toEqual([0, 2]));
  it('is who has a place in any of them', () =>
    expect(
      [person('ada', 'lead'), person('bob', 'law')].map((one) => isAskedByAny([of('ops'), of('lead')], one)),
    ).toEqual([true, false]));
  it('is asked now where any of them waits for them', () => {
    const order: Quorum = { inOrder: [of('ops'), of('lead')] };
    expect(isAskedNowByAny([order], [], person('ada', 'lead'))).toBe(false);
    expect(isAskedNowByAny([order, of('lead')], [], person('ada', 'lead'))).toBe(true);
    expect(isAskedNowByAny([order], [person('bob', 'ops')], person('ada', 'lead'))).toBe(true);
  });
});

describe('of several quorums', () => {
  const quorums: Quorum[] = [{ count: 3 }, { count: 2, groups: ['lead'] }];
  it('the nearest is told of', () => {
    expect(nearestTally(quorums, [])).toEqual({ have: 0, need: 2, met: false });
    expect(nearestTally(quorums, [person('ada'), person('bob')])).toEqual({ have: 2, need: 3, met: false });
  });
  it('one that is met is enough', () =>
    expect(nearestTally(quorums, [person('ada', 'lead'), person('bob', 'lead')]).met).toBe(true));
  it('their people are not put together', () =>
    expect(
      nearestTally(
        [
          { count: 2, groups: ['ops'] },
          { count: 2, groups: ['lead'] },
        ],
        [person('a', 'ops'), person('b', 'lead')],
      ).met,
    ).toBe(false));
  it('one that could be met is enough', () => {
    const ada: Quorum = { count: 1, subjects: ['ada'] };
    const isExcluded = (subject: string) => subject === 'ada';
    expect([couldAnyBeMet([ada], isExcluded), couldAnyBeMet([ada, of('ops')], isExcluded)]).toEqual([false, true]);
  });
});

describe('one act decides', () => {
  it('where one is asked for', () => expect(isOneAct(requirement())).toBe(true));
  it('where one is asked for at every stage', () => expect(isOneAct(staged)).toBe(true));
  it.each<[string, Partial<Requirement>]>([
    ['more are', { approvers: { count: 2 } }],
    ['it is held', { holdSeconds: 1 }],
    ['a later stage asks for more', { escalate: [{ afterSeconds: 1, approvers: { count: 2 } }] }],
    ['more must say no', { approvers: { count: 1, denyCount: 2 } }],
  ])('but not where %s', (_, more) => expect(isOneAct(requirement(more))).toBe(false));
});

describe('it is closed by', () => {
  it('one no', () => expect(denialsNeeded(requirement())).toBe(1));
  it('as many as are said', () =>
    expect(denialsNeeded(requirement({ approvers: { count: 2, denyCount: 2 } }))).toBe(2));
});
