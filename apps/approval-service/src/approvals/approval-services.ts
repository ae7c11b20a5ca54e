import type { Callers } from '#service/callers';
import type { RefusedTryServices } from './refused-tries.js';
import type { Unpark } from './unpark.js';

/** What the approvals' commands need beside their rules. */
export interface ApprovalServices extends RefusedTryServices {
  readonly callers: Callers;
  readonly unpark: Unpark;
}

export const APPROVALS = Symbol('approvals');
