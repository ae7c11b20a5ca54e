import type { DecisionKind } from './approvals/events.js';
import type { ApprovalId, Instant } from './ids.js';

/** Every way in which Holdpoint says no, by problem name (contract section 2). */
export const REASONS = [
  'invalid-input',
  'too-large',
  'unsupported-media-type',
  'invalid-edit',
  'rate-limited',
  'unauthenticated',
  'forbidden',
  'self-approval',
  'not-found',
  'conflict',
  'superseded',
  'late',
  'taken',
  'already-used',
  'arguments-changed',
  'revoked',
  'lapsed',
  'frozen',
  'stale-attempt',
  'not-ready',
  'in-doubt',
  'turn-ended',
  'unavailable',
] as const;
export type Reason = (typeof REASONS)[number];

/** Who closed it, how and when: what a `superseded` answer shows. */
export interface Winner {
  readonly decision: DecisionKind | 'succeeded' | 'failed';
  readonly by: string;
  readonly at: Instant;
  readonly seq: number;
}

/** A rule's no. `detail` is for people; programs go by `reason`. */
export interface Refusal {
  readonly reason: Reason;
  readonly detail: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly winner?: Winner;
  readonly modelText?: string;
  readonly approvalId?: ApprovalId;
  readonly recorded?: 'unknown';
  readonly by?: string;
  readonly at?: Instant;
}

export const refusal = (reason: Reason, detail: string, more: Omit<Refusal, 'reason' | 'detail'> = {}): Refusal => ({
  reason,
  detail,
  ...more,
});
