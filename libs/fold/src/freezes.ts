import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { Unavailable } from '#decider/unavailable';
import type { Instant, Tenant } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import type { FactReader } from './read.js';

/** A switch that is on: since when, by whom and why. */
export interface Freeze {
  readonly tool?: string;
  readonly agent?: string;
  readonly reason: string;
  readonly by: string;
  readonly at: Instant;
  readonly seq: number;
}

export interface Freezes {
  /** How many times a switch was pressed. */
  readonly count: number;
  /** Of the newest. */
  readonly seq: number;
  /** In the order in which they were pressed. */
  readonly on: readonly Freeze[];
}

export const NOTHING_FROZEN: Freezes = { count: 0, seq: 0, on: [] };

export function evolveFreezes(
  freezes: Freezes,
  { event, actor, occurredAt: at, seq }: Recorded<HoldpointEvent>,
): Freezes {
  if (event.type !== 'FreezeSwitched') return freezes;
  const { n: count, on, ...said } = event.data;
  const others = freezes.on.filter(({ tool, agent }) => tool !== said.tool || agent !== said.agent);
  return { count, seq, on: on ? [...others, { ...said, by: actor.id, at, seq }] : others };
}

/** Every switch of a tenant, in their order; the newest says how many there are. One that cannot be read may be on. */
export async function readFreezes(log: FactReader, tenant: Tenant): Promise<Freezes> {
  const newest = await log.last(subjects.freezes(tenant));
  if (newest?.event.type !== 'FreezeSwitched') return NOTHING_FROZEN;
  const numbers = Array.from({ length: newest.event.data.n }, (_, index) => index + 1);
  const facts = await Promise.all(numbers.map((n) => log.last(subjects.freeze(tenant, n))));
  return facts.reduce((freezes, fact, index) => {
    if (!fact) throw new Unavailable(`The log does not show switch ${index + 1} of ${tenant} now`);
    return evolveFreezes(freezes, fact);
  }, NOTHING_FROZEN);
}
