import type { ClientBase } from 'pg';
import { instant, type Instant } from '#contracts/ids';
import type { LogState, RawFact } from '#event-log/log';
import { chain, CHAIN_START } from './chain.js';
import { inTransaction } from './transaction.js';
import { PROJECTED_CHANNEL, wipe } from './wipe.js';
import { Fenced, ProjectionRefused } from './projection-refused.js';

export const CHECKPOINT = 'read-model';

/** How far the read model goes, in which log, and the chain up to there. */
export interface Checkpoint {
  readonly schemaVersion: number;
  readonly streamCreatedAt: Instant;
  readonly lastSeq: number;
  readonly chain: Buffer;
}

interface CheckpointRow {
  readonly schema_version: number;
  readonly stream_created_at: Date;
  readonly last_seq: string;
  readonly chain: Buffer;
}

const READ = 'SELECT schema_version, stream_created_at, last_seq, chain FROM projection_checkpoint WHERE name = $1';
const BEGIN = `INSERT INTO projection_checkpoint (name, schema_version, stream_created_at, last_seq, chain)
  VALUES ($1, $2, $3, 0, $4)`;
const MOVE = `WITH moved AS (
    UPDATE projection_checkpoint SET last_seq = $2, chain = $3 WHERE name = $1 AND last_seq = $4 RETURNING last_seq
  ) SELECT pg_notify('${PROJECTED_CHANNEL}', last_seq::text) FROM moved`;

async function read(client: ClientBase, locking: '' | ' FOR UPDATE'): Promise<Checkpoint | undefined> {
  const [row] = (await client.query<CheckpointRow>(READ + locking, [CHECKPOINT])).rows;
  if (!row) return undefined;
  const streamCreatedAt = instant(row.stream_created_at.getTime());
  return { schemaVersion: row.schema_version, streamCreatedAt, lastSeq: Number(row.last_seq), chain: row.chain };
}

/** The checkpoint as it stands, or a new one at the log's beginning. Refuses a log that it cannot have been made from. */
export async function openCheckpoint(client: ClientBase, log: LogState, schemaVersion: number): Promise<Checkpoint> {
  const found = await read(client, '');
  if (!found) return beginCheckpoint(client, log, schemaVersion);
  const { streamCreatedAt, lastSeq } = found;
  if (found.schemaVersion > schemaVersion)
    throw new ProjectionRefused('newer-schema', 'The read model was built by a newer version of Holdpoint');
  if (streamCreatedAt !== log.createdAt)
    throw new ProjectionRefused(
      'another-stream',
      `The read model was built from a log made at ${streamCreatedAt}, and this one was made at ${log.createdAt}`,
    );
  if (lastSeq > log.lastSeq)
    throw new ProjectionRefused(
      'checkpoint-ahead',
      `The read model knows fact ${lastSeq}, and the log ends at ${log.lastSeq}`,
    );
  return found;
}

/** What an earlier projection left without a checkpoint is nothing to build on. */
async function beginCheckpoint(
  client: ClientBase,
  { createdAt }: LogState,
  schemaVersion: number,
): Promise<Checkpoint> {
  await inTransaction(client, async () => {
    await wipe(client);
    await client.query(BEGIN, [CHECKPOINT, schemaVersion, createdAt, CHAIN_START]);
  });
  return { schemaVersion, streamCreatedAt: createdAt, lastSeq: 0, chain: CHAIN_START };
}

/** The log's own message at the checkpoint must give the link that the copy has: a log that was cut and written on does not. */
export async function proveCheckpoint(
  client: ClientBase,
  { lastSeq, chain: expected }: Checkpoint,
  raw: RawFact,
): Promise<void> {
  if (raw.seq !== lastSeq)
    throw new ProjectionRefused('gap', `The log does not have fact ${lastSeq}, which the read model has`);
  const before = await client.query<{ hash: Buffer }>('SELECT hash FROM event_log WHERE seq = $1', [lastSeq - 1]);
  if (!chain(before.rows[0]?.hash ?? CHAIN_START, raw).equals(expected))
    throw new ProjectionRefused(
      'log-differs-from-copy',
      `Fact ${lastSeq} in the log is not the one that the read model has`,
    );
}

/** Holds the row until the transaction ends. */
export async function holdCheckpoint(client: ClientBase, expected?: Checkpoint): Promise<void> {
  const found = await read(client, ' FOR UPDATE');
  if (expected && found?.lastSeq !== expected.lastSeq)
    throw new Fenced(
      `The checkpoint is at ${found?.lastSeq ?? 'nothing'}, not at ${expected.lastSeq}: another projector moved it`,
    );
}

/** Moves it by compare-and-set, and tells who listens. */
export async function moveCheckpoint(client: ClientBase, from: Checkpoint, to: Checkpoint): Promise<void> {
  const moved = await client.query(MOVE, [CHECKPOINT, to.lastSeq, to.chain, from.lastSeq]);
  if (moved.rowCount !== 1) throw new Fenced(`The checkpoint is not at ${from.lastSeq} any more`);
}
