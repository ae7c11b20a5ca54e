import type { Instant, Tenant } from '#contracts/ids';
import { approvalColumns, approvalItem, type ApprovalItem, type ApprovalRow } from './approval-item.js';
import { WITH_TURN } from './approval-status.js';
import type { Reader } from './read-model.js';

/** An approval that a fact changed, as it is now; `seq` is that fact's. */
export interface ChangedApproval {
  readonly tenant: Tenant;
  readonly pool: string;
  readonly seq: number;
  readonly approval: ApprovalItem;
}

export interface Changes {
  readonly changed: readonly ChangedApproval[];
  /** Facts up to here were looked at: where the next question begins. */
  readonly upTo: number;
}

export interface ChangesSince {
  readonly after: number;
  readonly now: Instant;
  /** Facts to look at, at most. */
  readonly limit: number;
  readonly tenant?: Tenant | undefined;
}

/** A request changes each of its calls; who has the turn says whether a call that began is executing or in doubt. */
const TOUCHED = `SELECT e.tenant, e.id AS approval_id, e.seq FROM facts e WHERE e.id LIKE 'ap\\_%'
  UNION ALL
  SELECT e.tenant, a.approval_id, e.seq FROM facts e JOIN approvals a ON a.tenant = e.tenant AND a.turn_key = e.id
    WHERE e.type = 'ToolApprovalRequested'
      OR (e.type IN ('TurnResumed', 'LeaseExtended', 'LeaseGivenBack') AND a.use_is = 'started' AND a.outcome_ok IS NULL)`;

interface ChangedRow extends ApprovalRow {
  readonly tenant: Tenant;
  readonly pool: string;
  readonly changed_by: string;
}

/** What changed in the read model since a fact, each approval once, in the order of the last fact that changed it. */
export async function approvalsChangedSince(
  reader: Reader,
  { after, now, limit, tenant }: ChangesSince,
): Promise<Changes> {
  const [last] = await reader.query<{ seq: string | null }>(
    'SELECT max(seq)::text AS seq FROM (SELECT seq FROM event_log WHERE seq > $1 ORDER BY seq LIMIT $2) AS facts',
    [after, limit],
  );
  if (last?.seq == null) return { changed: [], upTo: after };
  const rows = await reader.query<ChangedRow>(
    `WITH facts AS (SELECT seq, tenant, id, type FROM event_log
        WHERE seq > $1 AND seq <= $2 AND type <> 'DecisionRefused' AND ($3::text IS NULL OR tenant = $3)),
      touched AS (SELECT tenant, approval_id, max(seq) AS seq FROM (${TOUCHED}) AS each GROUP BY tenant, approval_id)
      SELECT ${approvalColumns('$4')}, a.tenant, a.pool, touched.seq::text AS changed_by
      FROM touched JOIN ${WITH_TURN} ON a.tenant = touched.tenant AND a.approval_id = touched.approval_id
      WHERE a.requested_at IS NOT NULL ORDER BY touched.seq, a.turn_key, a.call_index`,
    [after, last.seq, tenant ?? null, now],
  );
  return { changed: rows.map(changedApproval), upTo: Number(last.seq) };
}

const changedApproval = (row: ChangedRow): ChangedApproval => ({
  tenant: row.tenant,
  pool: row.pool,
  seq: Number(row.changed_by),
  approval: approvalItem(row),
});
