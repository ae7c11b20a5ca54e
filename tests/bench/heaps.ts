import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from '#tools/test-servers';
import { SERVICES, type ServiceName, type World } from '../support/world.js';
import { residentBytesOf } from './processes.js';

export interface Heaps {
  /** Of each service, after a collection. */
  readonly services: Readonly<Record<string, number>>;
  readonly heapBytes: number;
  readonly brokerRssBytes: number;
}

/** What the services of a world whose heaps are read are started with. */
export const PROBED = { NODE_OPTIONS: `--import=${join(ROOT, 'tests/bench/memory-probe.mjs')}` };

const ANSWERED_WITHIN_MS = 30_000;

export async function heapsOf(world: World): Promise<Heaps> {
  const read = async (name: ServiceName) => [name, await heapOf(world, name)] as const;
  const services = Object.fromEntries(await Promise.all(SERVICES.map(read)));
  const heapBytes = Object.values(services).reduce((sum, bytes) => sum + bytes, 0);
  return { services, heapBytes, brokerRssBytes: residentBytesOf(world.servers.nats.pid()) };
}

/** In use after a collection, with what lies outside of the heap for it. */
export async function heapOf(world: World, name: ServiceName): Promise<number> {
  const child = world.process(name);
  const answered = once(child, 'message', { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) });
  child.send('memory');
  const [{ heapUsed, external }] = (await answered) as [NodeJS.MemoryUsage];
  return heapUsed + external;
}
