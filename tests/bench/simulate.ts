import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Policy } from '#contracts/policies/policy';
import { connectBroker } from '#service/broker';
import { eventually, SERVICES, World } from '../support/world.js';
import { below, rounded, timed } from './figures.js';
import { drain } from './fill-lives.js';
import { fillRequests, type RecordedCalls } from './fill-requests.js';
import { linesOf, openStream } from './ndjson.js';
import type { BenchOptions } from './options.js';
import { cpuSecondsOf, mostResidentBytesOf, residentBytesOf } from './processes.js';

const MIB = 1_024 * 1_024;
const MOST_MIB = 300;
const SETTLING_MS = 2_000;

/** Most calls would be approved that people decided, and some of those were denied. */
const DRAFT: Policy = {
  rules: [
    {
      id: 'mail',
      tools: ['send_*'],
      when: `size(args.body) < 10000 && !args.subject.contains('7-0')`,
      then: 'approve',
    },
    {
      id: 'sevens',
      tools: ['*'],
      when: `args.subject.contains('7-0')`,
      then: 'require',
      require: { approvers: { count: 2 } },
    },
  ],
  default: { approvers: { count: 1 } },
};

/** What a draft costs the gateway that is tried on so many recorded requests: memory with a quick client, a slow one, and one that goes. */
export async function* simulate({ requests = 100_000, rounds = 3, seconds = 5 }: BenchOptions): AsyncGenerator<object> {
  const world = await World.start({ servers: { syncAlways: false } });
  try {
    const filled = yield* fill(world, requests);
    const gateway = await startedAlone(world);
    yield { part: 'before', ...gateway.memory() };
    let progressLines = 0;
    for (let round = 1; round <= rounds; round++) {
      const { lines, ...product } = await simulated(gateway, filled);
      progressLines = lines.progress ?? 0;
      yield { part: 'round', round, lines, product: { ...product, ...gateway.memory() }, floor: { mostMiB: MOST_MIB } };
    }
    yield { part: 'a reader that stops', ...(await slowly(gateway, filled, seconds)), ...gateway.memory() };
    yield { part: 'a reader that went away', ...(await left(gateway, seconds)), ...gateway.memory() };
    const { peakMiB } = gateway.memory();
    yield { calls: filled.calls, requests, progressLines, peakMiB, ...below(peakMiB / MOST_MIB, 1) };
  } finally {
    await world.stop();
  }
}

/** No service works on it: it is as if all had been done long ago. */
async function* fill(world: World, requests: number): AsyncGenerator<object, RecordedCalls> {
  for (const name of SERVICES) await world.kill(name);
  const settings = { natsUrl: world.natsUrl, natsCredsDir: world.servers.credsDir, natsCa: undefined };
  const brokers = await Promise.all(SERVICES.map((name) => connectBroker(settings, name)));
  const [orchestrator, approvals, gateway] = brokers;
  if (!orchestrator || !approvals || !gateway) throw new Error('A service has no broker');
  let filled: RecordedCalls | undefined;
  const writers = { orchestrator: orchestrator.events, 'approval-service': approvals.events };
  const took = await timed(async () => (filled = await fillRequests(writers, requests)));
  await drain(gateway, 'gateway');
  await Promise.all(brokers.map((broker) => broker.close()));
  if (!filled) throw new Error('Nothing was filled');
  yield { part: 'filling, not measured', ...filled, seconds: rounded(took) };
  return filled;
}

interface Gateway {
  readonly pid: number;
  readonly open: () => Promise<IncomingMessage>;
  readonly memory: () => { readonly residentMiB: number; readonly peakMiB: number };
}

async function startedAlone(world: World): Promise<Gateway> {
  world.startService('gateway');
  const { pid } = world.process('gateway');
  if (pid === undefined) throw new Error('The gateway did not start');
  const open = () => {
    const admin = world.admin();
    const headers = { authorization: `Bearer ${admin.token}`, 'holdpoint-tenant': 'default' };
    return openStream(`${admin.url}/v1/policies/simulate`, headers, DRAFT);
  };
  await eventually(() => fetch(`${world.url}/readyz`));
  const inMiB = (bytes: number) => rounded(bytes / MIB);
  const memory = () => ({ residentMiB: inMiB(residentBytesOf(pid)), peakMiB: inMiB(mostResidentBytesOf(pid)) });
  await sleep(SETTLING_MS);
  return { pid, open, memory };
}

type Counted = Readonly<Record<string, number>>;

/** From wherever the reader stands to the end: how many lines of each kind, and the sums. */
async function counted(lines: AsyncIterable<Record<string, unknown>>): Promise<readonly [Counted, Counted]> {
  const counts: Record<string, number> = {};
  let last: Record<string, unknown> = {};
  for await (const line of lines) {
    last = line;
    counts[String(line['type'])] = (counts[String(line['type'])] ?? 0) + 1;
  }
  if (last['type'] !== 'sums') throw new Error(`The last line is no sum: ${JSON.stringify(last)}`);
  return [counts, last as Counted];
}

async function simulated(gateway: Gateway, { calls }: RecordedCalls) {
  let found: readonly [Counted, Counted] = [{}, {}];
  const begunCpu = cpuSecondsOf(gateway.pid);
  const seconds = await timed(async () => (found = await counted(linesOf(await gateway.open()))));
  const [lines, sums] = found;
  if (sums['calls'] !== calls || lines['call'] !== calls || (lines['regret'] ?? 0) !== sums['regret'])
    throw new Error(`${calls} calls were recorded: ${JSON.stringify({ lines, sums })}`);
  const cpuSeconds = rounded(cpuSecondsOf(gateway.pid) - begunCpu);
  return { lines: lines as Readonly<Partial<Record<'progress', number>>>, seconds: rounded(seconds), cpuSeconds };
}

/** Reads to the first progress, stops for a while, and reads on: what the gateway does meanwhile. */
async function slowly(gateway: Gateway, { calls }: RecordedCalls, seconds: number) {
  const lines = linesOf(await gateway.open());
  await toFirstProgress(lines);
  const idle = await meanwhile(gateway, seconds);
  const [, sums] = await counted(lines);
  if (sums['calls'] !== calls) throw new Error(`${calls} calls were recorded: ${JSON.stringify(sums)}`);
  return idle;
}

async function left(gateway: Gateway, seconds: number) {
  const answer = await gateway.open();
  await toFirstProgress(linesOf(answer));
  answer.destroy();
  return meanwhile(gateway, seconds);
}

async function toFirstProgress(lines: AsyncIterator<Record<string, unknown>>): Promise<void> {
  for (let line = await lines.next(); line.done !== true; line = await lines.next())
    if (line.value['type'] === 'progress') return;
  throw new Error('There was no progress');
}

async function meanwhile({ pid }: Gateway, seconds: number) {
  await sleep(SETTLING_MS);
  const begun = cpuSecondsOf(pid);
  await sleep(seconds * 1_000);
  return { seconds, cpuSeconds: rounded(cpuSecondsOf(pid) - begun) };
}
