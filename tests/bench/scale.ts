import { setTimeout as sleep } from 'node:timers/promises';
import { listen, type Listening } from '../support/sse.js';
import { atRate } from './at-rate.js';
import { Fleet, openAndApprove, peopleOf, type Person } from './fleet.js';
import { rounded } from './figures.js';
import { argsOf } from './life-arguments.js';
import { TENANTS } from './lives.js';
import { heapOf } from './heaps.js';
import { MeasuredWorld } from './measured-world.js';
import type { BenchOptions } from './options.js';
import type { Service } from './scale-model.js';
import { tableSizes } from './table-sizes.js';

/** Of a turn of one call that is approved and carried out: request, decision, resumption, use, outcome, end; one command. */
const EVENTS_A_LIFE = 6;
/** A turn, an approval, an attempt, and the copies of its facts. */
const ROWS_A_LIFE = 3 + EVENTS_A_LIFE;
const WITHIN_MS = 120_000;

interface Sizes {
  readonly workers: number;
  readonly streams: number;
  readonly approvals: number;
  readonly perSecond: number;
}

/** Waiting workers, open streams and approvals on the whole product: what each costs, and whether the half foretells the whole. */
export async function* scale(options: BenchOptions): AsyncGenerator<object> {
  const { workers = 1_000, streams = 200, seconds = 60, 'per-second': perSecond = 20 } = options;
  const measured = await MeasuredWorld.start();
  try {
    const people = await peopleOf(measured.world, TENANTS);
    const fleet = new Fleet(people);
    yield* ofWaiting(measured, fleet, { people, workers, streams });
    yield* ofApprovals(measured, fleet, people, { workers, streams, perSecond, approvals: seconds * perSecond });
    fleet.stop();
  } finally {
    await measured.stop();
  }
}

async function* ofWaiting(
  measured: MeasuredWorld,
  fleet: Fleet,
  { people, workers, streams }: { people: readonly Person[]; workers: number; streams: number },
): AsyncGenerator<object> {
  const none = await look(measured);
  yield { part: 'nobody waits', ...none };
  fleet.grow(workers / 2);
  const half = await lookOnceOpen(measured, none.sockets + workers / 2);
  yield { part: 'half of the workers wait', workers: workers / 2, ...half };
  fleet.grow(workers);
  const all = await lookOnceOpen(measured, none.sockets + workers);
  const aWorker = (half.gatewayHeapBytes - none.gatewayHeapBytes) / (workers / 2);
  const predicted = half.gatewayHeapBytes + (workers / 2) * aWorker;
  yield {
    part: 'all workers wait',
    workers,
    ...all,
    heapBytesAWorker: rounded(aWorker),
    predictedHeapBytes: predicted,
  };
  const opened = await openStreams(people, streams);
  const withStreams = await lookOnceOpen(measured, all.sockets + streams);
  const aStream = (withStreams.gatewayHeapBytes - all.gatewayHeapBytes) / streams;
  yield { part: 'streams are open', streams: opened.length, ...withStreams, heapBytesAStream: rounded(aStream) };
}

async function look(measured: MeasuredWorld) {
  const broker = { ...(await measured.broker.memory()), ...(await measured.broker.interest()) };
  return { gatewayHeapBytes: await heapOf(measured.world, 'gateway'), sockets: measured.gatewaySockets(), broker };
}

async function lookOnceOpen(measured: MeasuredWorld, sockets: number) {
  for (const end = Date.now() + WITHIN_MS; measured.gatewaySockets() < sockets && Date.now() < end;) await sleep(200);
  return look(measured);
}

async function openStreams(people: readonly Person[], streams: number): Promise<Listening[]> {
  const opened = Array.from({ length: streams }, (_, index) => {
    const person = people[index % people.length];
    if (!person) throw new Error('There are no people');
    return listen(person.agent, `/v1/conversations/conversation-${index}/events`);
  });
  await Promise.all(opened.map((stream) => stream.opened));
  return opened;
}

async function* ofApprovals(
  measured: MeasuredWorld,
  fleet: Fleet,
  people: readonly Person[],
  sizes: Sizes,
): AsyncGenerator<object> {
  const before = { ...(await look(measured)), rows: await rowsOf(measured), cpu: measured.cpuSeconds() };
  const begun = performance.now();
  const failed = await openAtRate(people, sizes);
  for (const end = Date.now() + WITHIN_MS; fleet.done < sizes.approvals - failed.length && Date.now() < end;)
    await sleep(100);
  const seconds = (performance.now() - begun) / 1_000;
  const cpu = measured.cpuSeconds();
  const after = { ...(await look(measured)), rows: await rowsOf(measured) };
  const { done } = fleet;
  yield {
    part: 'approvals',
    asked: sizes.approvals,
    done,
    perSecond: rounded(done / seconds),
    problems: [...failed, ...fleet.problems].slice(0, 5),
    broker: { before: before.broker, after: after.broker },
    gateway: { before: before.gatewayHeapBytes, after: after.gatewayHeapBytes },
    sockets: { before: before.sockets, after: after.sockets },
    cpuSecondsAnApproval: perApproval(before.cpu, cpu, done),
  };
  const [predicted, found] = [before.rows + done * ROWS_A_LIFE, after.rows];
  yield {
    part: 'rows',
    predicted,
    measured: found,
    ratio: rounded(found / predicted),
    unit: 'rows found a row foretold',
  };
}

function perApproval(before: Record<Service, number>, after: Record<Service, number>, done: number) {
  const services = Object.keys(before) as Service[];
  return Object.fromEntries(services.map((name) => [name, rounded((after[name] - before[name]) / done)]));
}

async function openAtRate(people: readonly Person[], { approvals, perSecond }: Sizes): Promise<string[]> {
  const failed: string[] = [];
  await atRate(perSecond, [...Array(approvals).keys()], async (turn) => {
    const person = people[turn % people.length];
    if (!person) throw new Error('There are no people');
    await openAndApprove(person, turn, argsOf(turn * 7, 0)).catch((error: unknown) => void failed.push(String(error)));
  });
  return failed;
}

async function rowsOf({ world }: MeasuredWorld): Promise<number> {
  const tables = await tableSizes(world.servers.databaseUrl);
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}
