import type { ClientBase } from 'pg';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { placeOf } from '#contracts/subjects';
import type { Projection } from '#decider/projection';
import { decodeFact } from '#event-log/codec';
import { UnreadableFact, type RawFact } from '#event-log/log';
import { chain } from './chain.js';
import { holdCheckpoint, moveCheckpoint, type Checkpoint } from './checkpoint.js';
import { copyEvents, type Link } from './event-copy.js';
import { mergeChanges } from './merge.js';
import { park, readParked, type ParkedPlaces } from './parked.js';
import { isAboutData, messageOf } from './pg-errors.js';
import { ProjectionRefused } from './projection-refused.js';
import { inSavepoint, inTransaction } from './transaction.js';
import { writeRows } from './write-rows.js';

export type Projections = readonly Projection<Recorded<HoldpointEvent>>[];
export type ReportParked = (place: { readonly seq: number; readonly subject: string; readonly error: string }) => void;

export interface Batch {
  readonly from: Checkpoint;
  readonly raws: readonly RawFact[];
  readonly projections: Projections;
  readonly parked: ReportParked;
}

/** A projection that throws on a fact it can read: about that fact alone, as if Postgres had refused its rows. */
class CannotProject extends Error {
  override readonly name = 'CannotProject';
}

export const concernsOneFact = (error: unknown): boolean => error instanceof CannotProject || isAboutData(error);

/** Copy, rows and checkpoint in one transaction. Where the rows are refused, one by one, and what is refused is parked. */
export async function applyBatch(client: ClientBase, batch: Batch): Promise<Checkpoint> {
  const links = linksOf(batch.from, batch.raws);
  try {
    return await apply(client, batch, links, (waiting) => applyTogether(client, batch, links, waiting));
  } catch (error) {
    if (!concernsOneFact(error)) throw error;
    return apply(client, batch, links, (waiting) => applyOneByOne(client, batch, links, waiting));
  }
}

/** Reads and chains the batch; stops at the first fact that is not the next one, or that this code cannot read. */
function linksOf(from: Checkpoint, raws: readonly RawFact[]): readonly Link[] {
  let previous = from.chain;
  return raws.map((raw, at) => {
    const expected = from.lastSeq + at + 1;
    if (raw.seq !== expected)
      throw new ProjectionRefused('gap', `The log gave fact ${raw.seq} where ${expected} is next`);
    previous = chain(previous, raw);
    return { raw, fact: readable(raw), hash: previous };
  });
}

function readable(raw: RawFact): Recorded<HoldpointEvent> {
  try {
    return decodeFact<HoldpointEvent>(raw);
  } catch (error) {
    if (error instanceof UnreadableFact)
      throw new ProjectionRefused('unreadable-fact', error.message, { cause: error });
    throw error;
  }
}

function apply(
  client: ClientBase,
  { from, raws }: Batch,
  links: readonly Link[],
  rows: (waiting: ParkedPlaces) => Promise<void>,
): Promise<Checkpoint> {
  const last = links.at(-1);
  if (!last) return Promise.resolve(from);
  const to = { ...from, lastSeq: last.raw.seq, chain: last.hash };
  return inTransaction(client, async () => {
    await holdCheckpoint(client, from);
    await copyEvents(client, links);
    await rows(await readParked(client, raws));
    await moveCheckpoint(client, from, to);
    return to;
  });
}

async function applyTogether(
  client: ClientBase,
  batch: Batch,
  links: readonly Link[],
  waiting: ParkedPlaces,
): Promise<void> {
  const [held, free] = partition(links, ({ raw }) => waiting.has(placeOf(raw.subject)));
  await project(
    client,
    batch.projections,
    free.map(({ fact }) => fact),
  );
  for (const { raw } of held) await park(client, raw, 'An earlier event of this id is parked');
}

async function applyOneByOne(
  client: ClientBase,
  batch: Batch,
  links: readonly Link[],
  waiting: ParkedPlaces,
): Promise<void> {
  for (const { raw, fact } of links) {
    const place = placeOf(raw.subject);
    if (waiting.has(place)) await park(client, raw, 'An earlier event of this id is parked');
    else
      await inSavepoint(client, () => project(client, batch.projections, [fact])).catch(async (error: unknown) => {
        if (!concernsOneFact(error)) throw error;
        await park(client, raw, messageOf(error));
        waiting.add(place);
        batch.parked({ seq: raw.seq, subject: raw.subject, error: messageOf(error) });
      });
  }
}

/** Every projection's rows for these facts. */
export async function project(
  client: ClientBase,
  projections: Projections,
  facts: readonly Recorded<HoldpointEvent>[],
): Promise<void> {
  for (const { table, project: changesOf } of projections)
    await writeRows(
      client,
      mergeChanges(
        table,
        facts.flatMap((fact) => guarded(changesOf, fact)),
      ),
    );
}

function guarded(changesOf: Projections[number]['project'], fact: Recorded<HoldpointEvent>) {
  try {
    return changesOf(fact);
  } catch (error) {
    throw new CannotProject(messageOf(error), { cause: error });
  }
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): readonly [Item[], Item[]] {
  const first: Item[] = [];
  const second: Item[] = [];
  for (const item of items) (isFirst(item) ? first : second).push(item);
  return [first, second];
}
