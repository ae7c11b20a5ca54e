import { describe, expect, it } from '@jest/globals';
import type { Quorum, Requirement } from '#contracts/policies/policy';
import { completed, joined, together, type FullRequirement } from './join.js';
import { countWays, MOST_WAYS } from './quorum.js';

const [ops, pay, law]: [Quorum, Quorum, Quorum] = [
  { count: 1, groups: ['ops'] },
  { count: 1, groups: ['pay'] },
  { count: 1, groups: ['law'] },
];
const require = (more: Partial<Requirement> = {}): FullRequirement => completed({ approvers: ops, ...more });
const HOUR = 3_600;

describe('what is left open', () => {
  it('is a day, a no, and a day', () =>
    expect(completed({ approvers: ops })).toEqual({
      approvers: ops,
      expiresInSeconds: 86_400,
      onExpiry: 'deny',
      useWithinSeconds: 86_400,
    }));
  it('is nothing where all is said', () => {
    const said = { approvers: ops, expiresInSeconds: 1, onExpiry: 'approve', useWithinSeconds: 2 } as const;
    expect(completed(said)).toEqual(said);
  });
});

describe('one requirement', () => {
  const whole = require({ holdSeconds: 5, escalate: [{ afterSeconds: 9, approvers: pay }], askAgainAfterDenial: true });
  it('stays what it is', () => expect(joined([whole])).toEqual(whole));
  it('said twice is the same once', () => expect(joined([whole, { ...whole }])).toEqual(whole));
});

describe('several requirements together', () => {
  it('ask for the people of each', () =>
    expect(joined([require(), require({ approvers: pay })]).approvers).toEqual({ all: [ops, pay] }));
  it('expire with the first', () =>
    expect(joined([require({ expiresInSeconds: 60 }), require({ expiresInSeconds: 9 })]).expiresInSeconds).toBe(9));
  it('must be used before the first lapses', () =>
    expect(joined([require({ useWithinSeconds: 60 }), require()]).useWithinSeconds).toBe(60));
  it('are held as long as the longest', () =>
    expect(joined([require({ holdSeconds: 5 }), require({ holdSeconds: 9 }), require()]).holdSeconds).toBe(9));
  it('are not held where none is', () =>
    expect(joined([require(), require({ approvers: pay })])).not.toHaveProperty('holdSeconds'));
  it('ask again after a denial where one does', () =>
    expect(joined([require({ askAgainAfterDenial: true }), require()]).askAgainAfterDenial).toBe(true));
  it('do not where none does', () =>
    expect(joined([require({ askAgainAfterDenial: false }), require()])).not.toHaveProperty('askAgainAfterDenial'));
});

describe('time approves several together', () => {
  const byTime = (expiresInSeconds: number) => require({ onExpiry: 'approve', expiresInSeconds });
  it('only where it approves each', () =>
    expect(joined([byTime(60), require({ expiresInSeconds: 9 })])).toMatchObject({
      onExpiry: 'deny',
      expiresInSeconds: 9,
    }));
  it('not before it would approve each', () =>
    expect(joined([byTime(60), byTime(9)])).toMatchObject({ onExpiry: 'approve', expiresInSeconds: 60 }));
});

describe('people who are asked for twice', () => {
  it('are asked for once', () => expect(together([ops, ops])).toEqual(ops));
  it('are asked for in the larger number', () =>
    expect(together([ops, { count: 3, groups: ['ops'] }, { count: 2, groups: ['ops'] }])).toEqual({
      count: 3,
      groups: ['ops'],
    }));
  it('are asked for once in order too', () =>
    expect(together([{ inOrder: [ops, pay] }, { inOrder: [ops, pay], denyCount: 2 }])).toEqual({
      inOrder: [ops, pay],
    }));
  it('within a combination fill places of their own', () =>
    expect(together([ops, { all: [ops, pay] }])).toEqual({ all: [ops, { all: [ops, pay] }] }));
  it('as a group and as anybody fill places of their own', () =>
    expect(together([{ count: 1 }, ops])).toEqual({ all: [{ count: 1 }, ops] }));
});

describe('quorums together', () => {
  it('are in order where one is, those that are not at their place', () =>
    expect(together([law, { inOrder: [ops, pay] }])).toEqual({ inOrder: [law, ops, pay] }));
  it('are closed by the fewest that close one', () =>
    expect(
      together([
        { ...ops, denyCount: 3 },
        { ...pay, denyCount: 2 },
      ]),
    ).toEqual({ all: [ops, pay], denyCount: 2 }));
  it('are closed by one no where one of them is', () =>
    expect(together([{ ...ops, denyCount: 3 }, pay])).toEqual({ all: [ops, pay] }));
  it('that combine in too many ways are asked one after the other', () => {
    const tenOf = (group: string): Quorum => ({
      any: Array.from({ length: 11 }, (_, at) => ({ count: at + 1, groups: [group] })),
    });
    const all = [tenOf('ops'), tenOf('pay'), tenOf('law')];
    expect(all.map(countWays)).toEqual([11, 11, 11]);
    expect(together(all)).toEqual({ inOrder: all });
    expect(countWays(together(all.slice(1)))).toBeLessThanOrEqual(MOST_WAYS);
  });
});

describe('escalation of several together', () => {
  const toLaw = (afterSeconds: number) => ({ escalate: [{ afterSeconds, approvers: law }] });
  it('leaves required what the others require', () =>
    expect(joined([require(toLaw(HOUR)), require({ approvers: pay })]).escalate).toEqual([
      { afterSeconds: HOUR, approvers: { all: [law, pay] } },
    ]));
  it('is in the order of time', () => {
    const both = joined([require(toLaw(HOUR)), require({ approvers: pay, ...toLaw(60) })]);
    expect(both.escalate).toEqual([
      { afterSeconds: 60, approvers: { all: [ops, law] } },
      { afterSeconds: HOUR, approvers: { all: [law, pay] } },
    ]);
  });
  it('has no more stages than one requirement may', () => {
    const stages = (from: number) => [1, 2, 3].map((at) => ({ afterSeconds: from + at, approvers: law }));
    const both = joined([require({ escalate: stages(0) }), require({ approvers: pay, escalate: stages(10) })]);
    expect(both.escalate?.map(({ afterSeconds }) => afterSeconds)).toEqual([1, 2, 3, 11, 12]);
  });
  it('is none where none escalates', () =>
    expect(joined([require(), require({ approvers: pay })])).not.toHaveProperty('escalate'));
});
