import type { Log } from '#event-log/log';
import { CopiedRows, empty } from './copied-rows.js';
import { atLeast, median, rounded, timed } from './figures.js';
import { fillLog } from './fill.js';
import type { BenchOptions } from './options.js';
import { projectUpTo } from './projecting.js';
import { onDatabase, startLogStack, type LogStack } from './stack.js';

const TARGET = 0.5;

/** The read model built again from the first fact, against a bare read of the log and then a COPY of the rows that come of it. */
export async function* replay({ events = 1_000_000, rounds = 1 }: BenchOptions): AsyncGenerator<object> {
  const stack = await startLogStack();
  try {
    yield* measure(stack, events, rounds);
  } finally {
    await stack.stop();
  }
}

async function* measure(stack: LogStack, events: number, rounds: number): AsyncGenerator<object> {
  let lastSeq = 0;
  const fillSeconds = await timed(async () => (lastSeq = await fillLog(stack, events)));
  yield { part: 'filling, not measured', events: lastSeq, perSecond: rounded(lastSeq / fillSeconds) };
  const { events: log } = await stack.as('approval-service');
  const [product, floor] = [await stack.database('product'), await stack.database('floor')];
  const ratios: number[] = [];
  let copied: CopiedRows | undefined;
  for (let round = 1; round <= rounds; round++) {
    await onDatabase(product, empty);
    const rebuildSeconds = await timed(() => projectUpTo(log, product, lastSeq));
    copied ??= await CopiedRows.of(product, stack.servers.dir);
    const rows = copied;
    await onDatabase(floor, empty);
    const readSeconds = await timed(() => readUpTo(log, lastSeq));
    const copySeconds = await onDatabase(floor, (client) => timed(() => rows.into(client)));
    ratios.push((readSeconds + copySeconds) / rebuildSeconds);
    yield {
      part: 'round',
      round,
      events: lastSeq,
      rows: rows.rows,
      product: { seconds: rounded(rebuildSeconds), perSecond: rounded(lastSeq / rebuildSeconds) },
      floor: { readSeconds: rounded(readSeconds), copySeconds: rounded(copySeconds) },
    };
  }
  yield atLeast(median(ratios), TARGET);
}

async function readUpTo(log: Pick<Log, 'follow'>, seq: number): Promise<void> {
  for await (const raw of log.follow(0, new AbortController().signal)) if (raw.seq >= seq) return;
}
