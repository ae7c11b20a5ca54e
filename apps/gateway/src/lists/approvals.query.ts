import { indexOfApproval, isApprovalId, later, turnKeyOfApproval, type Instant, type Tenant } from '#contracts/ids';
import type { ApprovalStatus } from '#contracts/statuses';
import { approvalColumns, approvalItem, type ApprovalItem, type ApprovalRow } from './approval-item.js';
import { hasStatus, WITH_TURN } from './approval-status.js';
import { decodeCursor, pageOf, Values, type Page, type Paging } from './page.js';
import type { Reader } from './read-model.js';
import { scopeSql, type AgentScope } from './scope.js';

export interface ListApprovals extends Paging {
  readonly tenant: Tenant;
  readonly now: Instant;
  readonly status?: ApprovalStatus | undefined;
  readonly tool?: string | undefined;
  readonly agent?: string | undefined;
  readonly conversationId?: string | undefined;
  /** Any part of the tool's, server's or agent's name, or of an id; capitals do not matter. */
  readonly q?: string | undefined;
  readonly olderThanSeconds?: number | undefined;
  readonly agentScope?: AgentScope | undefined;
}

/** Oldest first. */
export async function listApprovals(reader: Reader, list: ListApprovals): Promise<Page<ApprovalItem>> {
  if (asksForNoName(list)) return { items: [], nextCursor: null };
  const values = new Values();
  const now = values.next(list.now);
  const rows = await reader.query<ApprovalRow>(
    `SELECT ${approvalColumns(now)} FROM ${WITH_TURN}
      WHERE ${conditions(list, now, values).join(' AND ')}
      ORDER BY a.requested_at, a.turn_key, a.call_index LIMIT ${values.next(list.limit + 1)}`,
    values.all,
  );
  return pageOf(rows, list.limit, {
    item: approvalItem,
    position: (row) => [row.requested_at.toISOString(), row.approval_id],
  });
}

/** No name holds a NUL, and Postgres takes none. */
const asksForNoName = ({ tool, agent, q }: ListApprovals): boolean =>
  [tool, agent, q].some((text) => text?.includes('\0'));

/** A row without its request is one whose request is parked: there is nothing to show. */
function conditions(list: ListApprovals, now: string, values: Values): string[] {
  const { next } = values;
  const same = (column: string, value: string | undefined) =>
    value === undefined ? [] : [`a.${column} = ${next(value)}`];
  return [
    `a.tenant = ${next(list.tenant)}`,
    'a.requested_at IS NOT NULL',
    ...(list.status === undefined ? [] : [hasStatus(list.status, now)]),
    ...same('tool_name', list.tool),
    ...same('agent', list.agent),
    ...same('conversation_id', list.conversationId),
    ...(list.q === undefined || list.q === '' ? [] : [`a.search LIKE ${next(containing(list.q))}`]),
    ...(list.olderThanSeconds === undefined
      ? []
      : [`a.requested_at <= ${next(later(list.now, -list.olderThanSeconds))}::timestamptz`]),
    ...scopeSql('a', list.agentScope, values),
    ...(list.cursor === undefined ? [] : [after(list.cursor, values)]),
  ];
}

const containing = (text: string): string => `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;

function after(cursor: string, { next }: Values): string {
  const [at, id] = decodeCursor(cursor);
  const [turnKey, index] = isApprovalId(id) ? [turnKeyOfApproval(id), indexOfApproval(id)] : [id, 0];
  return `(a.requested_at, a.turn_key, a.call_index) > (${next(at)}::timestamptz, ${next(turnKey)}, ${next(index)}::integer)`;
}
