import { describe, expect, it } from '@jest/globals';
import { Unavailable } from '#decider/unavailable';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant, Tenant } from '#contracts/ids';
import { subjectOf } from '#contracts/subjects';
import { evolveFreezes, NOTHING_FROZEN, readFreezes } from './freezes.js';
import type { FactReader } from './read.js';

const TENANT = 'default' as Tenant;
const AT = '2026-03-01T12:00:00.000Z' as Instant;
type Said = { readonly tool?: string; readonly agent?: string; readonly on: boolean };

const pressed = (...switches: readonly Said[]): Recorded<HoldpointEvent>[] =>
  switches.map((said, index) => {
    const event: HoldpointEvent = { type: 'FreezeSwitched', data: { ...said, reason: 'drill', n: index + 1 } };
    const ids = { eventId: `e-${index}`, correlationId: 'freeze', causationId: 'test' };
    const actor = { kind: 'person', id: 'olga', via: 'test' } as const;
    const placed = { tenant: TENANT, subject: subjectOf(TENANT, event), seq: index + 1, occurredAt: AT, storedAt: AT };
    return { event, actor, ...ids, ...placed };
  });
const after = (...switches: readonly Said[]) => pressed(...switches).reduce(evolveFreezes, NOTHING_FROZEN);

const names = (...switches: readonly Said[]) => after(...switches).on.map(({ tool, agent }) => tool ?? agent ?? 'all');

describe('a freeze', () => {
  it('ends with its own switch, not with another', () => {
    expect(names({ on: true }, { on: false })).toEqual([]);
    expect(names({ on: true }, { tool: 'pay', on: false })).toEqual(['all']);
    expect(names({ on: true }, { tool: 'pay', on: true }, { on: false })).toEqual(['pay']);
    expect(names({ tool: 'pay*', on: true }, { tool: 'pay', on: false })).toEqual(['pay*']);
  });
  it('says since when, by whom and why', () =>
    expect(after({ tool: 'pay', on: true }).on).toEqual([
      { tool: 'pay', reason: 'drill', by: 'olga', at: AT, seq: 1 },
    ]));
});

describe('what is frozen', () => {
  const facts = pressed({ on: true }, { tool: 'pay', on: true }, { on: false });
  const without = (n: number): FactReader => ({
    last: (filter) => {
      const found = filter.endsWith('*') ? facts.at(-1) : facts.find(({ subject }) => subject === filter);
      return Promise.resolve(found?.seq === n ? undefined : found);
    },
    next: () => Promise.reject(new Error('Nothing is read in order')),
  });

  it('is what all switches come to, by the number of the newest', async () =>
    expect(await readFreezes(without(0), TENANT)).toMatchObject({ count: 3, seq: 3, on: [{ tool: 'pay' }] }));
  it.each([1, 2])('is not known while switch %i cannot be read: it may be on', async (n) =>
    expect(readFreezes(without(n), TENANT)).rejects.toThrow(Unavailable),
  );
});
