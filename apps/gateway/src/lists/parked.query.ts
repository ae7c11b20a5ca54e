import type { Tenant } from '#contracts/ids';
import { decodeCursor, pageOf, Values, type Page, type Paging } from './page.js';
import type { Reader } from './read-model.js';

/** What could not be applied, one item an approval (or turn, or token): its events wait, the first because of `error`. */
export interface ParkedItem {
  readonly approvalId: string;
  readonly events: number;
  readonly error: string;
  /** Of the event that could not be applied. */
  readonly type: string;
  readonly at: string;
  readonly seq: number;
}

interface ParkedRow {
  readonly id: string;
  readonly events: string;
  readonly error: string;
  readonly type: string;
  readonly stored_at: Date;
  readonly seq: string;
}

/** Oldest first. */
export async function listParked(
  reader: Reader,
  list: Paging & { readonly tenant: Tenant },
): Promise<Page<ParkedItem>> {
  const values = new Values();
  const rows = await reader.query<ParkedRow>(
    `SELECT first.id, first.events, p.error, e.type, e.stored_at, first.seq::text FROM (
        SELECT tenant, id, min(seq) AS seq, count(*) AS events FROM parked_events
        WHERE tenant = ${values.next(list.tenant)} GROUP BY tenant, id) AS first
      JOIN parked_events p ON p.seq = first.seq JOIN event_log e ON e.seq = first.seq${after(list.cursor, values)}
      ORDER BY e.stored_at, first.id LIMIT ${values.next(list.limit + 1)}`,
    values.all,
  );
  return pageOf(rows, list.limit, { item: parkedItem, position: (row) => [row.stored_at.toISOString(), row.id] });
}

function after(cursor: string | undefined, { next }: Values): string {
  if (cursor === undefined) return '';
  const [at, id] = decodeCursor(cursor);
  return ` WHERE (e.stored_at, first.id) > (${next(at)}::timestamptz, ${next(id)})`;
}

const parkedItem = ({ id, events, error, type, stored_at, seq }: ParkedRow): ParkedItem => ({
  approvalId: id,
  events: Number(events),
  error,
  type,
  at: stored_at.toISOString(),
  seq: Number(seq),
});
