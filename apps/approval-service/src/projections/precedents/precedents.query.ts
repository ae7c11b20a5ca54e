import DataLoader from 'dataloader';
import type { Pool } from 'pg';
import { instant, type ApprovalId, type GrantId, type Instant, type Tenant } from '#contracts/ids';
import { CHECKPOINT } from '#read-model/checkpoint';
import { readRows } from '#read-model/read-rows';

/** A call, and the place in the log of its request: what came after it is no precedent. */
export interface LikeCall {
  readonly tenant: Tenant;
  readonly seq: number;
  readonly conversationId: string;
  readonly agent: string;
  readonly toolName: string;
  readonly server: string | undefined;
  readonly argsDigest: string;
  /** Grants that were issued after this; of the first page, all. */
  readonly grantsAfter?: number;
}

/** What the read model has of calls like one; the log alone says whether it is so. */
export interface Precedents {
  /**
   * The oldest first, a page at most. One that was ended or used up only after the call was asked for is among them: whoever took a use of it
   * may have died before the decision, or before what it approved was taken back.
   */
  readonly grants: readonly GrantId[];
  /** The newest of the same call, by a person or by an earlier one of theirs. */
  readonly denial?: ApprovalId;
}

/** Nothing where the read model has not come as far as the call. */
export type ReadPrecedents = (like: LikeCall) => Promise<Precedents | undefined>;

/** Calls that come within so long are asked about together. */
const GATHERED_MS = 10;
const AT_ONCE = 200;
export const GRANTS_A_PAGE = 50;

/** Grants are over by the clock of the service, as everywhere. */
export function precedentsReader(pool: Pool, clock: () => number): ReadPrecedents {
  const loader = new DataLoader<LikeCall, Precedents | undefined>((calls) => read(pool, calls, instant(clock())), {
    cache: false,
    maxBatchSize: AT_ONCE,
    batchScheduleFn: (run) => void setTimeout(run, GATHERED_MS),
  });
  return (like) => loader.load(like);
}

const FIND = `WITH asked AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
        $9::bigint[])
      WITH ORDINALITY AS asked (tenant, seq, conversation_id, agent, tool, server, args_digest, grants_after, place))
  SELECT asked.seq <= COALESCE(projected.last_seq, 0) AS known, denied.approval_id AS denial,
      ARRAY(
        SELECT g.grant_id FROM grants g
          WHERE g.tenant = asked.tenant AND g.tool = asked.tool AND g.server IS NOT DISTINCT FROM asked.server
            AND (g.agent IS NULL OR g.agent = asked.agent)
            AND (g.conversation_id IS NULL OR g.conversation_id = asked.conversation_id)
            AND g.issued_seq > asked.grants_after AND g.issued_seq < asked.seq AND g.expires_at > $8
            AND (g.seq > asked.seq OR (g.ended_at IS NULL AND g.used < g.max_uses))
          ORDER BY g.issued_seq LIMIT ${GRANTS_A_PAGE}) AS grants
    FROM asked
    LEFT JOIN projection_checkpoint projected ON projected.name = '${CHECKPOINT}'
    LEFT JOIN LATERAL (
      SELECT a.approval_id FROM approvals a
        WHERE a.tenant = asked.tenant AND a.conversation_id = asked.conversation_id AND a.args_digest = asked.args_digest
          AND a.tool_name = asked.tool AND a.server IS NOT DISTINCT FROM asked.server AND a.decision = 'denied'
          AND a.decided_by_kind IN ('person', 'denial') AND a.decision_seq < asked.seq
        ORDER BY a.decision_seq DESC LIMIT 1) denied ON TRUE
    ORDER BY asked.place`;

interface Found {
  readonly known: boolean;
  readonly denial: ApprovalId | null;
  readonly grants: readonly GrantId[];
}

async function read(pool: Pool, calls: readonly LikeCall[], now: Instant): Promise<(Precedents | undefined)[]> {
  const column = <Value>(of: (call: LikeCall) => Value) => calls.map(of);
  const rows = await readRows<Found>(pool, FIND, [
    column(({ tenant }) => tenant),
    column(({ seq }) => seq),
    column(({ conversationId }) => conversationId),
    column(({ agent }) => agent),
    column(({ toolName }) => toolName),
    column(({ server }) => server ?? null),
    column(({ argsDigest }) => argsDigest),
    now,
    column(({ grantsAfter }) => grantsAfter ?? 0),
  ]);
  return rows.map(({ known, denial, grants }) =>
    known ? { grants, ...(denial === null ? {} : { denial }) } : undefined,
  );
}
