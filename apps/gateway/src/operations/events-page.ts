import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { isApprovalId, type Tenant } from '#contracts/ids';
import type { EventsQuery } from '#contracts/queries';
import { subjects } from '#contracts/subjects';
import type { FactReader } from '#fold/read';
import { historyEntry, type HistoryEntry } from '../approvals/approval-view.js';

export interface EventItem extends HistoryEntry {
  readonly subject: string;
  readonly eventId: string;
  readonly correlationId: string;
  readonly causationId: string;
}

export interface EventsPage {
  readonly items: readonly EventItem[];
  /** `after` of the next page; null at the log's present end. */
  readonly nextCursor: string | null;
}

const MOST_READ = 2_000;

/** A tenant's facts in the order of the log. Where a filter matches little, a page may hold few and still have a next. */
export async function eventsPage(log: FactReader, tenant: Tenant, query: EventsQuery): Promise<EventsPage> {
  const { after = 0, cursor = after, type, approvalId, limit = 100 } = query;
  if (approvalId !== undefined && !isApprovalId(approvalId)) return { items: [], nextCursor: null };
  const filter = approvalId === undefined ? subjects.everything(tenant) : subjects.story(tenant, approvalId);
  const items: EventItem[] = [];
  let seq = cursor;
  for (let read = 0; read < MOST_READ && items.length < limit; read += 1) {
    const fact = await log.next(filter, seq + 1);
    if (!fact) return { items, nextCursor: null };
    seq = fact.seq;
    if (type === undefined || fact.event.type === type) items.push(eventItem(fact));
  }
  return { items, nextCursor: String(seq) };
}

function eventItem(fact: Recorded<HoldpointEvent>): EventItem {
  const { subject, eventId, correlationId, causationId } = fact;
  return { ...historyEntry(fact), subject, eventId, correlationId, causationId };
}
