import type { ClientBase, QueryConfig } from 'pg';
import { placeOf } from '#contracts/subjects';
import { holdCheckpoint, moveCheckpoint, type Checkpoint } from './checkpoint.js';
import { copyEvents, copyOf } from './event-copy.js';
import { inOrder } from './in-order.js';
import type { Link } from './links.js';
import { park, readParked, ParkedPlaces } from './parked.js';
import { messageOf } from './pg-errors.js';
import { concernsOneFact, project, rowsOf, runAll, type Projections } from './project.js';
import { inSavepoint, inTransaction } from './transaction.js';

export type ReportParked = (place: { readonly seq: number; readonly subject: string; readonly error: string }) => void;

/** What can be done before a transaction begins, while the one before it is on its way. */
export interface Batch {
  readonly links: readonly Link[];
  readonly projections: Projections;
  readonly copy: QueryConfig;
  /** Of all facts together; nothing where one of them cannot be projected. */
  readonly rows: readonly QueryConfig[] | undefined;
}

export const batchOf = (links: readonly Link[], projections: Projections): Batch => ({
  links,
  projections,
  copy: copyOf(links),
  rows: rowsTogether(links, projections),
});

function rowsTogether(links: readonly Link[], projections: Projections): Batch['rows'] {
  try {
    return rowsOf(projections, links);
  } catch (error) {
    if (concernsOneFact(error)) return undefined;
    throw error;
  }
}

interface Onto {
  readonly from: Checkpoint;
  readonly parked: ReportParked;
}

/** Copy, rows and checkpoint in one transaction. Where the rows are refused, one by one, and what is refused is parked. */
export async function applyBatch(client: ClientBase, batch: Batch, onto: Onto): Promise<Checkpoint> {
  try {
    if (batch.rows) return await apply(client, batch, onto, applyTogether);
  } catch (error) {
    if (!concernsOneFact(error)) throw error;
  }
  return apply(client, batch, onto, applyOneByOne);
}

/** Commits that are lost with the machine are projected again from the checkpoint before them: none waits for the disk. */
const NO_WAIT = 'SET LOCAL synchronous_commit = off';

interface Applying extends Batch, Onto {
  readonly waiting: ParkedPlaces;
}

function apply(
  client: ClientBase,
  batch: Batch,
  onto: Onto,
  rows: (client: ClientBase, applying: Applying) => Promise<void>,
): Promise<Checkpoint> {
  const { from } = onto;
  const last = batch.links.at(-1);
  if (!last) return Promise.resolve(from);
  const to = { ...from, lastSeq: last.raw.seq, chain: last.hash };
  return inTransaction(client, async () => {
    let waiting = new ParkedPlaces([]);
    await inOrder([
      () => client.query(NO_WAIT),
      () => holdCheckpoint(client, from),
      () => moveCheckpoint(client, from, to),
      () => copyEvents(client, batch.copy),
      async () => (waiting = await readParked(client, batch.links)),
    ]);
    await rows(client, { ...batch, ...onto, waiting });
    return to;
  });
}

async function applyTogether(client: ClientBase, applying: Applying): Promise<void> {
  const { links, projections, waiting, rows = [] } = applying;
  const held = waiting.none ? [] : links.filter(({ raw }) => waiting.has(placeOf(raw.subject)));
  if (held.length === 0) return runAll(client, rows);
  const free = links.filter((link) => !held.includes(link));
  await project(client, projections, free);
  for (const { raw } of held) await park(client, raw, 'An earlier event of this id is parked');
}

async function applyOneByOne(client: ClientBase, { links, projections, waiting, parked }: Applying): Promise<void> {
  for (const link of links) {
    const { raw } = link;
    const place = placeOf(raw.subject);
    if (waiting.has(place)) await park(client, raw, 'An earlier event of this id is parked');
    else
      await inSavepoint(client, () => project(client, projections, [link])).catch(async (error: unknown) => {
        if (!concernsOneFact(error)) throw error;
        await park(client, raw, messageOf(error));
        waiting.add(place);
        parked({ seq: raw.seq, subject: raw.subject, error: messageOf(error) });
      });
  }
}
