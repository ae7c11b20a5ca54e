import type { ClientBase } from 'pg';
import { canonicalJson } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { instant } from '#contracts/ids';
import { placeOf } from '#contracts/subjects';
import type { RawFact } from '#event-log/log';
import { violates } from './pg-errors.js';
import { ProjectionRefused } from './projection-refused.js';

/** One fact of a batch: as the stream has it, as it reads, and its link in the chain. */
export interface Link {
  readonly raw: RawFact;
  readonly fact: Recorded<HoldpointEvent>;
  readonly hash: Buffer;
}

const COPY = `INSERT INTO event_log (seq, subject, headers, data, stored_at, tenant, id, type, correlation_id, hash)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::timestamptz[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::bytea[])`;

/** Byte for byte. The log holds one fact a subject for ever: a second one means that the log has lost its first. */
export async function copyEvents(client: ClientBase, links: readonly Link[]): Promise<void> {
  const columns = [
    links.map(({ raw }) => raw.seq),
    links.map(({ raw }) => raw.subject),
    links.map(({ raw }) => canonicalJson(raw.headers)),
    links.map(({ raw }) => Buffer.from(raw.data.buffer, raw.data.byteOffset, raw.data.byteLength)),
    links.map(({ raw }) => raw.storedAt),
    links.map(({ fact }) => fact.tenant),
    links.map(({ raw }) => placeOf(raw.subject).id),
    links.map(({ fact }) => fact.event.type),
    links.map(({ fact }) => fact.correlationId.replaceAll('\0', '')),
    links.map(({ hash }) => hash),
  ];
  try {
    await client.query(COPY, columns);
  } catch (error) {
    if (!violates(error, 'event_log_one_fact_a_subject')) throw error;
    throw new ProjectionRefused('second-fact', `The log has a second fact under one subject: ${detailOf(error)}`, {
      cause: error,
    });
  }
}

const detailOf = (error: { readonly detail?: string | undefined }): string => error.detail ?? 'which one is not known';

interface CopiedRow {
  readonly seq: string;
  readonly subject: string;
  readonly headers: string;
  readonly data: Buffer;
  readonly stored_at: Date;
}

/** The copy gives back what the stream gave. */
export const rawOfCopy = ({ seq, subject, headers, data, stored_at }: CopiedRow): RawFact => ({
  seq: Number(seq),
  subject,
  headers: JSON.parse(headers) as Record<string, string>,
  data: new Uint8Array(data),
  storedAt: instant(stored_at.getTime()),
});

export async function readCopies(client: ClientBase, seqs: readonly number[]): Promise<RawFact[]> {
  const found = await client.query<CopiedRow>(
    'SELECT seq, subject, headers, data, stored_at FROM event_log WHERE seq = ANY($1::bigint[]) ORDER BY seq',
    [seqs],
  );
  return found.rows.map(rawOfCopy);
}
