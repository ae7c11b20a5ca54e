import { later, type Instant, type Tenant } from '#contracts/ids';
import { hasStatus, WITH_TURN } from './approval-status.js';
import { isoOf } from './page.js';
import type { Reader } from './read-model.js';
import { countReadyTurns } from './turns.query.js';

const RECENT_SECONDS = 86_400;
const MOST_NAMES = 50;

/** Contract section 4, `GET /v1/stats`. What is `decided` and how long it took is of the last 24 hours. */
export interface Stats {
  readonly pending: number;
  readonly held: number;
  readonly inDoubt: number;
  readonly readyNotResumed: number;
  readonly oldestPendingAt: string | null;
  /** From the request to a person's decision; null where there was none. */
  readonly decisionSeconds: { readonly p50: number | null; readonly p95: number | null; readonly p99: number | null };
  readonly byTool: readonly ({ readonly tool: string } & Counts)[];
  readonly byAgent: readonly ({ readonly agent: string } & Counts)[];
  /** Facts in the log that the read model does not have yet. */
  readonly projectionLag: number;
}
interface Counts {
  readonly pending: number;
  readonly decided: number;
}

export interface StatsOf {
  readonly tenant: Tenant;
  readonly now: Instant;
  readonly logLastSeq: number;
}

export async function stats(reader: Reader, { tenant, now, logLastSeq }: StatsOf): Promise<Stats> {
  const [open, readyNotResumed, decisionSeconds, byTool, byAgent, checkpoint] = await Promise.all([
    openApprovals(reader, tenant, now),
    countReadyTurns(reader, tenant, now),
    latencies(reader, tenant, now),
    countsBy(reader, 'tool_name', { tenant, now }),
    countsBy(reader, 'agent', { tenant, now }),
    checkpointSeq(reader),
  ]);
  return {
    ...open,
    readyNotResumed,
    decisionSeconds,
    byTool: byTool.map(({ name, ...counts }) => ({ tool: name, ...counts })),
    byAgent: byAgent.map(({ name, ...counts }) => ({ agent: name, ...counts })),
    projectionLag: Math.max(0, logLastSeq - checkpoint),
  };
}

async function openApprovals(reader: Reader, tenant: Tenant, now: Instant) {
  const [row] = await reader.query<{ pending: string; held: string; in_doubt: string; oldest: Date | null }>(
    `SELECT (SELECT count(*) FROM approvals a WHERE a.tenant = $1 AND a.requested_at IS NOT NULL AND ${hasStatus('pending', '$2')}) AS pending,
      (SELECT count(*) FROM approvals a WHERE a.tenant = $1 AND ${hasStatus('held', '$2')}) AS held,
      (SELECT count(*) FROM ${WITH_TURN} WHERE a.tenant = $1 AND ${hasStatus('in-doubt', '$2')}) AS in_doubt,
      (SELECT min(a.requested_at) FROM approvals a WHERE a.tenant = $1 AND ${hasStatus('pending', '$2')}) AS oldest`,
    [tenant, now],
  );
  return {
    pending: Number(row?.pending ?? 0),
    held: Number(row?.held ?? 0),
    inDoubt: Number(row?.in_doubt ?? 0),
    oldestPendingAt: isoOf(row?.oldest ?? null),
  };
}

async function latencies(reader: Reader, tenant: Tenant, now: Instant): Promise<Stats['decisionSeconds']> {
  const [row] = await reader.query<{ p: (number | null)[] | null }>(
    `SELECT percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY extract(epoch FROM decided_at - requested_at)) AS p
      FROM approvals WHERE tenant = $1 AND decided_at >= $2::timestamptz AND decided_by_kind = 'person'`,
    [tenant, later(now, -RECENT_SECONDS)],
  );
  const [p50 = null, p95 = null, p99 = null] = row?.p ?? [];
  return { p50, p95, p99 };
}

/** Where most is waiting comes first. */
async function countsBy(reader: Reader, column: 'tool_name' | 'agent', { tenant, now }: Omit<StatsOf, 'logLastSeq'>) {
  const rows = await reader.query<{ name: string; pending: string; decided: string }>(
    `SELECT ${column} AS name, count(*) FILTER (WHERE open) AS pending, count(*) FILTER (WHERE NOT open) AS decided FROM (
        SELECT ${column}, true AS open FROM approvals a WHERE a.tenant = $1 AND ${hasStatus('pending', '$2')}
        UNION ALL
        SELECT ${column}, false FROM approvals WHERE tenant = $1 AND decided_at >= $2::timestamptz) AS recent
      WHERE ${column} IS NOT NULL GROUP BY ${column} ORDER BY pending DESC, decided DESC, name LIMIT ${MOST_NAMES}`,
    [tenant, later(now, -RECENT_SECONDS)],
  );
  return rows.map(({ name, pending, decided }) => ({ name, pending: Number(pending), decided: Number(decided) }));
}

async function checkpointSeq(reader: Reader): Promise<number> {
  const [row] = await reader.query<{ seq: string }>(`SELECT last_seq::text AS seq FROM projection_checkpoint`, []);
  return Number(row?.seq ?? 0);
}
