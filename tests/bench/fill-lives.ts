import type { Broker } from '#service/broker';
import type { Appended } from '#event-log/log';
import { poolDurable } from '#event-log/durables';
import { POOLS_A_TENANT, TENANTS, lifeOf, poolOfTurn, tenantOfTurn, type Part } from './lives.js';
import type { LogStack } from './stack.js';

/** Lives that are written side by side. */
const GROUP = 200;

export interface Filled {
  readonly turns: number;
  readonly approvals: number;
  readonly events: number;
  readonly commands: number;
}
export const NOTHING: Filled = { turns: 0, approvals: 0, events: 0, commands: 0 };

export type Writers = Readonly<Record<Part['by'], Broker>>;

export const writersOf = async (stack: LogStack): Promise<Writers> => ({
  orchestrator: await stack.as('orchestrator'),
  'approval-service': await stack.as('approval-service'),
  gateway: await stack.as('gateway'),
});

/** Goes on from what is filled, whole lives at a time, until EVENTS has about that many. */
export async function fillLives(writers: Writers, from: Filled, events: number): Promise<Filled> {
  let filled = from;
  while (filled.events < events) filled = await fillGroup(writers, filled);
  return filled;
}

async function fillGroup(writers: Writers, from: Filled): Promise<Filled> {
  const lives = Array.from({ length: GROUP }, (_, index) => lifeOf(from.turns + index));
  const longest = Math.max(...lives.map(({ parts }) => parts.length));
  const filled = { ...from, turns: from.turns + GROUP };
  for (let step = 0; step < longest; step++) {
    const parts = lives.flatMap(({ parts: all }) => all.slice(step, step + 1));
    await Promise.all(parts.map((part) => append(writers, part)));
    for (const { by, facts } of parts) filled[by === 'gateway' ? 'commands' : 'events'] += facts.length;
  }
  filled.approvals += lives.reduce((sum, { approvals }) => sum + approvals, 0);
  return filled;
}

function append(writers: Writers, part: Part): Promise<unknown> {
  return part.by === 'gateway'
    ? Promise.all(part.facts.map((fact) => stored(() => writers.gateway.commands.append(fact))))
    : Promise.all(part.facts.map((fact) => stored(() => writers[part.by].events.append(fact))));
}

const TRIES = 30;

/** A busy machine answers late: nobody else writes here, so what is taken at a second try was stored by the first. */
export async function stored(appendOnce: () => Promise<Appended>): Promise<void> {
  let appended = await appendOnce();
  for (let tries = 1; appended.is === 'unclear' && tries < TRIES; tries++) {
    appended = await appendOnce();
    if (appended.is === 'taken') return;
  }
  if (appended.is !== 'stored') throw new Error(`A fact was not stored: ${JSON.stringify(appended)}`);
}

export async function preparePools({ orchestrator }: Writers): Promise<number> {
  const pools = Array.from({ length: TENANTS * POOLS_A_TENANT }, (_, turn) => turn);
  for (const turn of pools) await orchestrator.preparePool(tenantOfTurn(turn), poolOfTurn(turn));
  return pools.length;
}

/** Everything that was written has been handled, as in a product that keeps up: acknowledged by whose durable it is. */
export async function consumeAll(writers: Writers, { commands }: Filled, before: Filled): Promise<void> {
  await drain(writers.orchestrator, 'orchestrator');
  await drain(writers['approval-service'], 'approvals');
  await drain(writers.gateway, 'gateway');
  await drainPools(writers.gateway, commands - before.commands);
}

/** On a busy machine a pull may bring less than there is: the pools are gone round until every continuation was offered. */
async function drainPools(gateway: Broker, commands: number): Promise<void> {
  const pools = Array.from({ length: TENANTS * POOLS_A_TENANT }, (_, turn) =>
    poolDurable(tenantOfTurn(turn), poolOfTurn(turn)),
  );
  let acked = 0;
  for (let round = 0; acked < commands && round < ROUNDS; round++)
    for (let from = 0; from < pools.length && acked < commands; from += POOLS_AT_ONCE) {
      const some = pools.slice(from, from + POOLS_AT_ONCE);
      const counts = await Promise.all(some.map((durable) => drainPool(gateway, durable)));
      acked += counts.reduce((sum, count) => sum + count, 0);
    }
  if (acked !== commands) throw new Error(`${acked} continuations were offered, ${commands} were written`);
}

const POOLS_AT_ONCE = 25;
const ROUNDS = 10;
const IDLE_MS = 2_000;

/** Until nothing has come for a while. */
export async function drain(broker: Broker, durable: string): Promise<void> {
  const stop = new AbortController();
  let idle = setTimeout(() => stop.abort(), IDLE_MS);
  for await (const delivery of broker.events.deliveries(durable, stop.signal)) {
    clearTimeout(idle);
    delivery.ack();
    idle = setTimeout(() => stop.abort(), IDLE_MS);
  }
  clearTimeout(idle);
}

const A_PULL = { max: 5_000, expiresMs: 1_000 };

/** The pull is let run out: what is under way to one that is cut off comes again only after the broker has waited in vain. */
async function drainPool(broker: Broker, durable: string): Promise<number> {
  let count = 0;
  const { signal } = new AbortController();
  for await (const delivery of broker.pullPool(durable, { ...A_PULL, signal })) {
    delivery.ack();
    count += 1;
  }
  return count;
}
