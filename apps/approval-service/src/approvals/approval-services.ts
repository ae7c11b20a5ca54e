import type { LogServices } from '#event-log/handle-command';
import type { PoliciesInForce } from '#policy/in-force';
import type { Callers } from '#service/callers';
import type { RefusedTryServices } from './refused-tries.js';
import type { Unpark } from './unpark.js';

/** What every rule on an approval is judged by: the log, and the policy that it holds. */
export interface JudgingServices extends LogServices {
  readonly policies: PoliciesInForce;
}

/** What the approvals' commands need beside their rules. */
export interface ApprovalServices extends JudgingServices, RefusedTryServices {
  readonly callers: Callers;
  readonly unpark: Unpark;
}

export const APPROVALS = Symbol('approvals');
