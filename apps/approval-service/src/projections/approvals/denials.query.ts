import type { Pool } from 'pg';
import type { ApprovalId, Tenant } from '#contracts/ids';
import { readRows } from '#read-model/read-rows';

/** What people denied, the newest first, as the read model has it. */
export type ReadDenials = (tenant: Tenant, limit: number) => Promise<readonly ApprovalId[]>;

const DENIED = `SELECT approval_id AS id FROM approvals
  WHERE tenant = $1 AND decided_at IS NOT NULL AND decision = 'denied' AND decided_by_kind = 'person'
  ORDER BY decided_at DESC LIMIT $2`;

export const denialsReader =
  (pool: Pool): ReadDenials =>
  async (tenant, limit) =>
    (await readRows<{ id: ApprovalId }>(pool, DENIED, [tenant, limit])).map(({ id }) => id);
