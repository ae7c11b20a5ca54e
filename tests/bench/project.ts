import type { BenchOptions } from './options.js';
import { CopiedRows, empty } from './copied-rows.js';
import { atLeast, median, rounded, timed } from './figures.js';
import { fillLog } from './fill.js';
import { projectUpTo } from './projecting.js';
import { onDatabase, startLogStack, type LogStack } from './stack.js';

const TARGET = 0.5;

/** Facts a second of the projector, from the log into an empty read model, against a bare COPY of the rows that come of it. */
export async function* project({ events = 100_000, rounds = 3 }: BenchOptions): AsyncGenerator<object> {
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
  const product = await stack.database('product');
  const floor = await stack.database('floor');
  const perSecond = { product: [] as number[], floor: [] as number[] };
  let copied: CopiedRows | undefined;
  for (let round = 1; round <= rounds; round++) {
    await onDatabase(product, empty);
    const projecting = await timed(() => projectUpTo(log, product, lastSeq));
    copied ??= await CopiedRows.of(product, stack.servers.dir);
    const rows = copied;
    await onDatabase(floor, empty);
    const copying = await onDatabase(floor, (client) => timed(() => rows.into(client)));
    perSecond.product.push(lastSeq / projecting);
    perSecond.floor.push(lastSeq / copying);
    yield {
      part: 'round',
      round,
      events: lastSeq,
      rows: rows.rows,
      product: { perSecond: rounded(lastSeq / projecting) },
      floor: { perSecond: rounded(lastSeq / copying) },
    };
  }
  const [ours, theirs] = [median(perSecond.product), median(perSecond.floor)];
  yield {
    ...atLeast(ours / theirs, TARGET),
    product: { perSecond: rounded(ours) },
    floor: { perSecond: rounded(theirs) },
  };
}
