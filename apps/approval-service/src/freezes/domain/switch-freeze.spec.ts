import { describe, expect, it } from '@jest/globals';
import type { Instant } from '#contracts/ids';
import { NOTHING_FROZEN, type Freezes } from '#fold/freezes';
import { switchFreeze } from './switch-freeze.js';

const on = { tool: 'pay', on: true, reason: 'drill' };
const off = { ...on, on: false };
const frozen: Freezes = {
  count: 3,
  seq: 9,
  on: [{ tool: 'pay', reason: 'drill', by: 'olga', at: '2026-03-01T12:00:00.000Z' as Instant, seq: 9 }],
};

describe('a switch', () => {
  it('is pressed on, as the next in its story', () =>
    expect(switchFreeze(on, NOTHING_FROZEN)).toMatchObject({ event: { data: { ...on, n: 1 } } }));
  it('is pressed off', () => expect(switchFreeze(off, frozen)).toMatchObject({ event: { data: { ...off, n: 4 } } }));
  it('that stands so already is nothing new', () => {
    expect(switchFreeze(on, frozen)).toMatchObject({ kind: 'nothing-to-do' });
    expect(switchFreeze(off, NOTHING_FROZEN)).toMatchObject({ kind: 'nothing-to-do' });
  });
  it('of something else is another', () =>
    expect(switchFreeze({ on: true, reason: 'all' }, frozen)).toMatchObject({ kind: 'accept' }));
});
