import type { ApprovalId, Instant, Tenant } from '#contracts/ids';

/** A deadline that has passed, as the read model has it. The log alone says whether there is still something to do. */
export interface DueRow {
  readonly tenant: Tenant;
  readonly approvalId: ApprovalId;
  readonly what: 'expiry' | 'lapse';
}

export interface DueReader {
  /** The oldest first. */
  dueBy(now: Instant, limit: number): Promise<DueRow[]>;
}
