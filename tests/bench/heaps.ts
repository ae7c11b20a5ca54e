import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '#tools/test-servers';
import { SERVICES, type World } from '../support/world.js';

export interface Heaps {
  /** Of each service, after a collection. */
  readonly services: Readonly<Record<string, number>>;
  readonly heapBytes: number;
  /** What the broker holds resident; not known where the system does not say. */
  readonly brokerRssBytes: number | undefined;
}

/** What the services of a world whose heaps are read are started with. */
export const PROBED = { NODE_OPTIONS: `--import=${join(ROOT, 'tests/bench/heap-probe.mjs')}` };

export async function heapsOf(world: World): Promise<Heaps> {
  const read = async (name: string) => [name, await heapOf(world, name)] as const;
  const services = Object.fromEntries(await Promise.all(SERVICES.map(read)));
  const heapBytes = Object.values(services).reduce((sum, bytes) => sum + bytes, 0);
  return { services, heapBytes, brokerRssBytes: await residentBytes(world.servers.nats.pid()) };
}

function heapOf(world: World, name: string): Promise<number> {
  const child = world.process(name);
  return new Promise((resolve) => {
    child.once('message', (usage: NodeJS.MemoryUsage) => resolve(usage.heapUsed));
    child.send('heap');
  });
}

async function residentBytes(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
}
