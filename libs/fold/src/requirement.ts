import type { AppliedRequirement } from '#contracts/approvals/events';
import { digestOf } from '#contracts/canonical';
import { later, type Instant } from '#contracts/ids';
import type { ToolApprovalRequested } from '#contracts/turns/events';

const DAY = 86_400;

/** What must be met before a call may run. Until policies exist it is the same for every request: one approver. */
export interface Requirement {
  readonly approvers: { readonly count: number };
  /** Seconds from the request; `expiresInSeconds` of the turn may only shorten it. */
  readonly expiresInSeconds: number;
  readonly onExpiry: 'deny';
  /** Seconds from the decision, after which an unused approval lapses. */
  readonly useWithinSeconds: number;
}

const ONE_APPROVER: Requirement = {
  approvers: { count: 1 },
  expiresInSeconds: DAY,
  onExpiry: 'deny',
  useWithinSeconds: DAY,
};

/** The same for every request until policies exist: the read model knows it without the request. */
export const USE_WITHIN_SECONDS = ONE_APPROVER.useWithinSeconds;

const APPLIED: AppliedRequirement = { policyVersion: 0, engineVersion: '1', hash: digestOf(ONE_APPROVER) };

/** A pure function of the log: the same request gives the same requirement for ever (design 4.2). */
export const requirementOf = (_request: ToolApprovalRequested): Requirement => ONE_APPROVER;
export const appliedRequirement = (_request: ToolApprovalRequested): AppliedRequirement => APPLIED;

export function expiresAt(request: ToolApprovalRequested, requestedAt: Instant): Instant {
  const allowed = requirementOf(request).expiresInSeconds;
  return later(requestedAt, Math.min(request.expiresInSeconds ?? allowed, allowed));
}

export const lapsesAt = (request: ToolApprovalRequested, decidedAt: Instant): Instant =>
  later(decidedAt, requirementOf(request).useWithinSeconds);
