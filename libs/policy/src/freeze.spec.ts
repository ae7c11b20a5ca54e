import { describe, expect, it } from '@jest/globals';
import type { Instant } from '#contracts/ids';
import { freezeOf } from './freeze.js';

interface On {
  readonly tool?: string;
  readonly agent?: string;
}

const pressed = { reason: 'drill', by: 'olga', at: '2026-03-01T12:00:00.000Z' as Instant };
const isFrozen = (on: readonly On[], tool = 'pay', agent: { id: string; path?: string[] } = { id: 'robot' }) =>
  freezeOf(
    { count: on.length, seq: on.length, on: on.map((one, at) => ({ ...one, ...pressed, seq: at + 1 })) },
    tool,
    agent,
  ) !== undefined;

describe('a freeze', () => {
  it('of the tenant holds every tool of every agent', () => expect(isFrozen([{}])).toBe(true));
  it('of a tool holds that tool', () => {
    expect(isFrozen([{ tool: 'pay' }])).toBe(true);
    expect(isFrozen([{ tool: 'pay' }], 'read')).toBe(false);
  });
  it('of an agent holds that agent', () => {
    expect(isFrozen([{ agent: 'robot' }])).toBe(true);
    expect(isFrozen([{ agent: 'robot' }], 'pay', { id: 'other' })).toBe(false);
  });
  it('of an agent with a tool holds both together only', () => {
    const both = [{ agent: 'robot', tool: 'pay' }];
    expect([isFrozen(both), isFrozen(both, 'read'), isFrozen(both, 'pay', { id: 'other' })]).toEqual([
      true,
      false,
      false,
    ]);
  });
  it('of a pattern holds whatever a rule with it would match', () => {
    expect(isFrozen([{ tool: '*' }])).toBe(true);
    expect(isFrozen([{ tool: 'pay_*' }], 'pay_invoice')).toBe(true);
    expect(isFrozen([{ tool: 'pay_*' }], 'refund')).toBe(false);
    expect(isFrozen([{ agent: 'ro*t' }])).toBe(true);
    expect(isFrozen([{ agent: 'rd_*' }])).toBe(false);
  });
  it('of an agent holds those that work for it', () => {
    expect(isFrozen([{ agent: 'root' }], 'pay', { id: 'robot', path: ['root', 'planner'] })).toBe(true);
    expect(isFrozen([{ agent: 'robot' }], 'pay', { id: 'root', path: [] })).toBe(false);
  });
  it('that is one of several holds by itself', () =>
    expect(isFrozen([{ tool: 'read' }, { agent: 'robot' }])).toBe(true));
});
