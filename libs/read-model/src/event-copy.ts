import type { ClientBase, QueryConfig } from 'pg';
import { instant } from '#contracts/ids';
import { placeOf } from '#contracts/subjects';
import type { RawFact } from '#event-log/log';
import { bytesArray, textArray } from './array-parameter.js';
import type { Link } from './links.js';
import { violates } from './pg-errors.js';
import { ProjectionRefused } from './projection-refused.js';

const COPY = {
  name: 'copy-events',
  text: `INSERT INTO event_log (seq, subject, headers, data, stored_at, tenant, id, type, correlation_id, hash)
    SELECT seq::bigint, subject, headers, data, stored_at::timestamptz, tenant, id, type, correlation_id, hash
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::bytea[]) AS f (seq, subject, headers, data, stored_at, tenant, id, type, correlation_id, hash)`,
};

/** Byte for byte. */
export function copyOf(links: readonly Link[]): QueryConfig {
  const texts = (of: (link: Link) => string | number) => textArray(links.map(of));
  const values = [
    texts(({ raw }) => raw.seq),
    texts(({ raw }) => raw.subject),
    texts(({ headers }) => headers),
    bytesArray(links.map(({ raw }) => raw.data)),
    texts(({ raw }) => raw.storedAt),
    texts(({ fact }) => fact.tenant),
    texts(({ raw }) => placeOf(raw.subject).id),
    texts(({ fact }) => fact.event.type),
    texts(({ fact }) => fact.correlationId.replaceAll('\0', '')),
    bytesArray(links.map(({ hash }) => hash)),
  ];
  return { ...COPY, values };
}

/** The log holds one fact a subject for ever: a second one means that the log has lost its first. */
export async function copyEvents(client: ClientBase, copy: QueryConfig): Promise<void> {
  try {
    await client.query(copy);
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
