import { rounded, timed } from './figures.js';
import { consumeAll, fillLives, NOTHING, preparePools, writersOf, type Filled, type Writers } from './fill-lives.js';
import { MeasuredBroker } from './measured-broker.js';
import type { BenchOptions } from './options.js';
import { projectUpTo } from './projecting.js';
import { startLogStack, type LogStack } from './stack.js';
import { tableSizes } from './table-sizes.js';

/** Shares of the largest size: a cost a fact is a slope between two sizes, never a share of the whole. */
const SHARES = [1 / 15, 1 / 3, 1];

interface Bench {
  readonly stack: LogStack;
  readonly broker: MeasuredBroker;
  readonly writers: Writers;
  readonly database: string;
}
interface Measured extends Filled {
  readonly heapBytes: number;
  readonly diskBytes: number;
  readonly databaseBytes: number;
}

/** What one fact, one approval and one pool cost the broker and Postgres: whole lives by the product's own encoder and projector. */
export async function* unitCosts({ events = 60_000 }: BenchOptions): AsyncGenerator<object> {
  const stack = await startLogStack();
  const broker = await MeasuredBroker.insteadOf(stack.servers);
  try {
    const bench = { stack, broker, writers: await writersOf(stack), database: await stack.database('costs') };
    yield* ofPools(bench);
    yield* ofFacts(bench, events);
  } finally {
    await stack.stop();
    await broker.stop();
  }
}

async function* ofPools({ broker, writers }: Bench): AsyncGenerator<object> {
  const before = await broker.memory();
  const pools = await preparePools(writers);
  const after = await broker.memory();
  const { consumersBytes } = broker.diskOf('COMMANDS');
  yield {
    part: 'idle pools',
    pools,
    broker: { before, after, ...(await broker.interest()) },
    heapBytesAPool: rounded((after.heapBytes - before.heapBytes) / pools),
    diskBytesAPool: rounded(consumersBytes / pools),
  };
}

async function* ofFacts(bench: Bench, largest: number): AsyncGenerator<object> {
  const all: Measured[] = [];
  let filled = NOTHING;
  for (const share of SHARES) {
    const before = filled;
    const seconds = await timed(async () => {
      filled = await fillLives(bench.writers, before, Math.round(largest * share));
    });
    yield {
      part: 'filled, without a sync a message',
      ...filled,
      eventsPerSecond: (filled.events - before.events) / seconds,
    };
    await consumeAll(bench.writers, filled, before);
    const { measured, line } = await measure(bench, filled);
    all.push(measured);
    yield line;
  }
  yield summary(all);
}

async function measure({ broker, writers, database }: Bench, filled: Filled) {
  const log = writers['approval-service'].events;
  await projectUpTo(log, database, (await log.state()).lastSeq);
  const live = await broker.memory();
  const afterStop = await broker.restart('stopped');
  const [events, commands] = [broker.diskOf('EVENTS'), broker.diskOf('COMMANDS')];
  const startSeconds = {
    afterStop,
    afterKill: await broker.restart('killed'),
    withoutIndex: await broker.restart('without its index'),
  };
  const rested = await broker.memory();
  const tables = await tableSizes(database);
  const databaseBytes = tables.reduce((sum, { totalBytes }) => sum + totalBytes, 0);
  const diskBytes = [events, commands].reduce((sum, of) => sum + of.messagesBytes + of.indexBytes, 0);
  const line = {
    part: 'measured',
    ...filled,
    broker: { live, rested },
    startSeconds,
    disk: { events, commands },
    tables,
  };
  return { line, measured: { ...filled, heapBytes: rested.heapBytes, diskBytes, databaseBytes } };
}

/** The slope from the first size to the last. */
function summary(all: readonly Measured[]) {
  const [first, last] = [all.at(0), all.at(-1)];
  if (!first || !last) throw new Error('Nothing was measured');
  const subjects = last.events + last.commands - first.events - first.commands;
  const approvals = last.approvals - first.approvals;
  const heap = last.heapBytes - first.heapBytes;
  const disk = last.diskBytes - first.diskBytes;
  return {
    eventsAnApproval: rounded((last.events - first.events) / approvals),
    commandsAnApproval: rounded((last.commands - first.commands) / approvals),
    turnsAnApproval: rounded((last.turns - first.turns) / approvals),
    heapBytesASubject: rounded(heap / subjects),
    diskBytesASubject: rounded(disk / subjects),
    diskBytesAnApproval: rounded(disk / approvals),
    databaseBytesAnApproval: rounded((last.databaseBytes - first.databaseBytes) / approvals),
    ratio: rounded(heap / subjects),
    unit: 'bytes of broker heap a subject',
  };
}
