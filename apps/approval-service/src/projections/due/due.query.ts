import type { Pool } from 'pg';
import type { ApprovalId, Instant, Tenant } from '#contracts/ids';
import { readRows } from '#read-model/read-rows';
import type { Deadline } from './due.projection.js';

/** A deadline that has passed, as the read model has it. The log alone says whether there is still something to do. */
export interface DueRow {
  readonly tenant: Tenant;
  readonly approvalId: ApprovalId;
  readonly what: Deadline;
}

export interface DueReader {
  /** The oldest first. */
  dueBy(now: Instant, limit: number): Promise<DueRow[]>;
}

const DUE = `SELECT tenant, approval_id AS "approvalId", what FROM due WHERE at <= $1 ORDER BY at, approval_id LIMIT $2`;

export const dueReader = (pool: Pool): DueReader => ({
  dueBy: (now, limit) => readRows<DueRow>(pool, DUE, [now, limit]),
});
