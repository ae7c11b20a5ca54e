import { describe, expect, it } from '@jest/globals';
import { later, type Instant } from '#contracts/ids';
import { BEFORE_ANY_POLICY } from './compiled.js';
import { completed } from './join.js';
import { escalatesAt, expiresAt, onExpiryOf } from './times.js';

const NOON = '2026-01-01T12:00:00.000Z' as Instant;
const at = (seconds: number) => later(NOON, seconds);
const asUsual = BEFORE_ANY_POLICY.default;

describe('an approval expires', () => {
  it('after a day where nothing is said', () => expect(expiresAt(asUsual, {}, NOON)).toBe(at(86_400)));
  it('sooner where the turn says so', () => expect(expiresAt(asUsual, { expiresInSeconds: 5 }, NOON)).toBe(at(5)));
  it('not later', () => expect(expiresAt(asUsual, { expiresInSeconds: 100_000 }, NOON)).toBe(at(86_400)));
});

describe('a stage begins', () => {
  const stage = (afterSeconds: number) => ({ afterSeconds, approvers: { count: 1 } });
  const staged = completed({ approvers: { count: 1 }, escalate: [stage(60), stage(120)] });
  it('at its time', () =>
    expect([0, 1].map((reached) => escalatesAt(staged, reached, NOON))).toEqual([at(60), at(120)]));
  it('never after the last', () => expect(escalatesAt(staged, 2, NOON)).toBeUndefined());
  it('never where there is none', () => expect(escalatesAt(asUsual, 0, NOON)).toBeUndefined());
});

describe('when its time is over', () => {
  const byTime = completed({ approvers: { count: 1 }, onExpiry: 'approve', expiresInSeconds: 60 });
  it('it is denied where nothing is said', () => expect(onExpiryOf(asUsual, {})).toBe('deny'));
  it('it is approved where the policy says so', () => expect(onExpiryOf(byTime, {})).toBe('approve'));
  it('it is where the turn would give more time', () =>
    expect([60, 61].map((expiresInSeconds) => onExpiryOf(byTime, { expiresInSeconds }))).toEqual([
      'approve',
      'approve',
    ]));
  it('it is never approved because an agent gave people less time', () =>
    expect(onExpiryOf(byTime, { expiresInSeconds: 59 })).toBe('deny'));
});
