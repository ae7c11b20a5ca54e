import { SERVICES, World } from '../support/world.js';
import { forSeconds } from './at-rate.js';
import { median, rounded } from './figures.js';
import {
  clientsOf,
  closedLoop,
  floorLoop,
  latencyOf,
  oneLoop,
  type Clients,
  type LoopLatency,
  type Sample,
} from './loop.js';
import { startFloor, type Floor } from './loop-floor.js';
import type { BenchOptions } from './options.js';
import { handlesOf, residentBytesOf } from './processes.js';

const BUSY = 64;
const WARM_UP_MOST_SECONDS = 20;
const WINDOWS = 20;
/** Few enough to take nothing from the product, enough for a median. */
const FLOOR_PER_SECOND = 2;
/** A service's own memory and handles may not grow by more than that between the first and the last quarter. */
const FLAT = 1.2;

interface Held {
  readonly rssBytes: number;
  readonly handles: number;
}
interface Window {
  readonly product: LoopLatency;
  /** Of raw guarded appends in the same minutes: what the machine itself did meanwhile. */
  readonly floor: LoopLatency;
  readonly held: Readonly<Record<string, Held>>;
}

/**
 * Whole loops, each ended, at half of the rate that a closed loop reaches; what each process holds, window by window. A shared
 * machine is not equally fast for twenty minutes, so the latency that has to stay flat is the one over the floor's beside it.
 */
export async function* soak({ seconds = 1_200, concurrency = BUSY }: BenchOptions): AsyncGenerator<object> {
  const [world, floor] = [await World.start(), await startFloor()];
  try {
    const clients = await clientsOf(world, concurrency);
    const warmUp = Math.min(WARM_UP_MOST_SECONDS, seconds);
    await closedLoop(concurrency, warmUp, () => endedLoop(clients));
    const most = await closedLoop(concurrency, warmUp, () => endedLoop(clients));
    const perSecond = most.length / warmUp / 2;
    yield { mostPerSecond: rounded(perSecond * 2), perSecond: rounded(perSecond), seconds };
    const windows: Window[] = [];
    for (let number = 1; number <= WINDOWS; number += 1) {
      const window = await oneWindow({ world, floor, clients }, perSecond, seconds / WINDOWS);
      windows.push(window);
      yield { part: 'round', round: number, ...window };
    }
    yield { ...growth(windows), target: `services' memory and handles, and latency over the floor's, below ${FLAT}` };
  } finally {
    await Promise.all([world.stop(), floor.stop()]);
  }
}

interface Sides {
  readonly world: World;
  readonly floor: Floor;
  readonly clients: Clients;
}

async function oneWindow({ world, floor, clients }: Sides, perSecond: number, seconds: number): Promise<Window> {
  const [product, bare] = await Promise.all([
    forSeconds(seconds, perSecond, () => endedLoop(clients)),
    forSeconds(seconds, FLOOR_PER_SECOND, () => floorLoop(floor)),
  ]);
  return { product: latencyOf(product), floor: latencyOf(bare), held: heldBy(world, clients) };
}

/** With its end, so that nothing of it is offered any more. */
async function endedLoop(clients: Clients): Promise<Sample> {
  const { sample, end } = await oneLoop(clients);
  await end();
  return sample;
}

/** Resident memory and open handles as Linux tells them, without the connections that these clients keep or let go as they like. */
function heldBy(world: World, clients: Clients): Record<string, Held> {
  const pids: [string, number | undefined][] = SERVICES.map((name) => [name, world.process(name).pid]);
  pids.push(['nats-server', world.servers.nats.pid()], ['postgres', world.servers.postgres.pid()]);
  const ofClients = (name: string) => (name === 'gateway' ? clients.connections() : 0);
  return Object.fromEntries(
    pids.map(([name, pid = 0]) => [
      name,
      { rssBytes: residentBytesOf(pid), handles: handlesOf(pid) - ofClients(name) },
    ]),
  );
}

/** The medians of the last quarter over those of the first. */
function growth(windows: readonly Window[]) {
  const quarter = Math.max(1, Math.floor(windows.length / 4));
  const [first, last] = [windows.slice(0, quarter), windows.slice(-quarter)];
  const grown = (of: (window: Window) => number) => rounded(median(last.map(of)) / median(first.map(of)));
  const names = Object.keys(windows[0]?.held ?? {});
  const memory = Object.fromEntries(names.map((name) => [name, grown(({ held }) => held[name]?.rssBytes ?? 0)]));
  const handles = Object.fromEntries(names.map((name) => [name, grown(({ held }) => held[name]?.handles ?? 0)]));
  const ratio = grown(({ product, floor }) => product.continuedP50Ms / floor.continuedP50Ms);
  const services = SERVICES.flatMap((name) => [memory[name] ?? Infinity, handles[name] ?? Infinity]);
  return { ratio, memory, handles, met: [ratio, ...services].every((figure) => figure < FLAT) };
}
