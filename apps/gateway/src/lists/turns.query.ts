import { later, type Instant, type Tenant, type TurnKey } from '#contracts/ids';
import type { TurnStatus } from '#contracts/statuses';
import { decodeCursor, isoOf, pageOf, Values, type Page, type Paging } from './page.js';
import type { Reader } from './read-model.js';
import { scopeSql, type AgentScope } from './scope.js';

export interface ListTurns extends Paging {
  readonly tenant: Tenant;
  readonly now: Instant;
  readonly status?: TurnStatus | undefined;
  /** In its present state for longer than that, where it is ready; else asked for before that. */
  readonly olderThanSeconds?: number | undefined;
  readonly agentScope?: AgentScope | undefined;
}

export interface TurnItem {
  readonly turnId: string;
  readonly conversationId: string;
  readonly leaseId: TurnKey;
  readonly agent: { readonly id: string };
  readonly pool: string;
  readonly release: string;
  readonly status: TurnStatus;
  readonly calls: number;
  readonly requestedAt: string;
  /** Since when all is decided and nobody has it. */
  readonly readySince: string | null;
  readonly attempts: number;
  readonly lastWorkerId: string | null;
  readonly seq: number;
}

interface TurnRow {
  readonly turn_key: TurnKey;
  readonly turn_id: string;
  readonly conversation_id: string;
  readonly agent: string;
  readonly pool: string;
  readonly release: string;
  readonly status: TurnStatus;
  readonly calls: number;
  readonly requested_at: Date;
  readonly since: Date;
  readonly lease_attempt: number | null;
  readonly lease_worker_id: string | null;
  readonly seq: string;
}

const aliveSql = (table: string, now: string) =>
  `(${table}.lease_state = 'taken' AND ${table}.lease_until > ${now}::timestamptz)`;

/** The same rules as `turnStatus` of the fold, with the moment since which it is so; held together by a test. */
const turnsSql = (now: string): string => `SELECT t.*, c.*,
      CASE WHEN t.ended_as IS NOT NULL THEN t.ended_as
        WHEN NOT c.decided THEN 'awaiting-approval'
        WHEN c.alive OR COALESCE(${aliveSql('t', now)}, false) THEN 'continuing'
        ELSE 'ready' END AS status,
      GREATEST(c.last_decided_at, t.lease_until, c.last_lease_until) AS free_since
    FROM turns t CROSS JOIN LATERAL (
      SELECT bool_and(a.decision IS NOT NULL) AND count(*) = t.calls AS decided, max(a.decided_at) AS last_decided_at,
        COALESCE(bool_or(${aliveSql('a', now)}), false) AS alive, max(a.lease_until) AS last_lease_until
      FROM approvals a WHERE a.tenant = t.tenant AND a.turn_key = t.turn_key) c
    WHERE t.requested_at IS NOT NULL`;

const UNDECIDED =
  'SELECT FROM approvals a WHERE a.tenant = t.tenant AND a.turn_key = t.turn_key AND a.decision IS NULL';

/** Named first, so that only open turns without an open approval are looked at closely. */
function narrowed(status: TurnStatus | undefined): string {
  if (status === undefined) return '';
  if (status === 'ready' || status === 'continuing') return ` AND t.ended_as IS NULL AND NOT EXISTS (${UNDECIDED})`;
  return status === 'awaiting-approval' ? ' AND t.ended_as IS NULL' : ` AND t.ended_as = '${status}'`;
}

/** Oldest first: the ready ones by when they became ready. */
export async function listTurns(reader: Reader, list: ListTurns): Promise<Page<TurnItem>> {
  const values = new Values();
  const now = values.next(list.now);
  const inner = [turnsSql(now), `t.tenant = ${values.next(list.tenant)}`, ...scopeSql('t', list.agentScope, values)];
  const rows = await reader.query<TurnRow>(
    `SELECT * FROM (
        SELECT turn_key, turn_id, conversation_id, agent, pool, release, status, calls, requested_at, lease_attempt,
          lease_worker_id, seq::text, CASE WHEN status = 'ready' THEN free_since ELSE requested_at END AS since
        FROM (${inner.join(' AND ')}${narrowed(list.status)}) AS every) AS listed
      WHERE ${outer(list, values).join(' AND ')} ORDER BY since, turn_key LIMIT ${values.next(list.limit + 1)}`,
    values.all,
  );
  return pageOf(rows, list.limit, { item: turnItem, position: (row) => [row.since.toISOString(), row.turn_key] });
}

function outer({ status, olderThanSeconds, cursor, now }: ListTurns, { next }: Values): string[] {
  const conditions = ['true'];
  if (status !== undefined) conditions.push(`status = ${next(status)}`);
  if (olderThanSeconds !== undefined) conditions.push(`since <= ${next(later(now, -olderThanSeconds))}::timestamptz`);
  if (cursor !== undefined) {
    const [at, turnKey] = decodeCursor(cursor);
    conditions.push(`(since, turn_key) > (${next(at)}::timestamptz, ${next(turnKey)})`);
  }
  return conditions;
}

const turnItem = (row: TurnRow): TurnItem => ({
  turnId: row.turn_id,
  conversationId: row.conversation_id,
  leaseId: row.turn_key,
  agent: { id: row.agent },
  pool: row.pool,
  release: row.release,
  status: row.status,
  calls: row.calls,
  requestedAt: row.requested_at.toISOString(),
  readySince: row.status === 'ready' ? isoOf(row.since) : null,
  attempts: row.lease_attempt ?? 0,
  lastWorkerId: row.lease_worker_id,
  seq: Number(row.seq),
});

export interface ReadyTurn {
  readonly tenant: Tenant;
  readonly turnKey: TurnKey;
  readonly pool: string;
}

export interface ReadyTurns {
  readonly now: Instant;
  readonly olderThanSeconds: number;
  /** By turn key, so that a page can follow a page whatever changes meanwhile. */
  readonly after: string;
  readonly limit: number;
}

/** Also one in doubt: whether it may run again, only its policy says. */
const WAITING_CALL = `SELECT FROM approvals a WHERE a.tenant = t.tenant AND a.turn_key = t.turn_key AND a.decision = 'approved'
  AND COALESCE(a.use_is, 'started') = 'started' AND a.outcome_ok IS NULL AND a.decided_at <= $2::timestamptz
  AND NOT COALESCE(${aliveSql('a', '$1')}, false)`;

/** Of every tenant: turns that are decided but not resumed for so long, or of which a single call is. */
export function readyTurnKeys(
  reader: Reader,
  { now, olderThanSeconds, after, limit }: ReadyTurns,
): Promise<ReadyTurn[]> {
  return reader.query<ReadyTurn>(
    `SELECT tenant, turn_key AS "turnKey", pool FROM (
        SELECT tenant, turn_key, pool FROM (${turnsSql('$1')}${narrowed('ready')}) AS every
          WHERE status = 'ready' AND free_since <= $2::timestamptz
        UNION SELECT t.tenant, t.turn_key, t.pool FROM turns t
          WHERE t.release = 'each' AND t.ended_as IS NULL AND EXISTS (${WAITING_CALL})) AS waiting
      WHERE turn_key > $3 ORDER BY turn_key LIMIT $4`,
    [now, later(now, -olderThanSeconds), after, limit],
  );
}

export async function countReadyTurns(reader: Reader, tenant: Tenant, now: Instant): Promise<number> {
  const [row] = await reader.query<{ count: string }>(
    `SELECT count(*) FROM (${turnsSql('$1')} AND t.tenant = $2${narrowed('ready')}) AS every WHERE status = 'ready'`,
    [now, tenant],
  );
  return Number(row?.count ?? 0);
}
