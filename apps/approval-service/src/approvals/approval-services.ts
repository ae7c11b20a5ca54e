import type { ApprovalId, Tenant } from '#contracts/ids';
import type { Done, Reply } from '#contracts/rpc';
import type { Callers } from '#service/callers';
import type { RefusedTryServices } from './refused-tries.js';

/** What the approvals' commands need beside their rules. */
export interface ApprovalServices extends RefusedTryServices {
  readonly callers: Callers;
  /** Applies again what the read model could not apply. */
  readonly unpark: (approvalId: ApprovalId, tenant: Tenant) => Promise<Reply<Done>>;
}

export const APPROVALS = Symbol('approvals');
