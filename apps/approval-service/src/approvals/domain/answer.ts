import type { AnswerKind, DecisionKind } from '#contracts/approvals/events';
import { digestOf } from '#contracts/canonical';
import { later, type Instant } from '#contracts/ids';
import type { KnownCall } from './call.js';

export const BECOMES = {
  approve: 'approved',
  deny: 'denied',
  respond: 'responded',
  cancel: 'cancelled',
} as const satisfies Record<AnswerKind, DecisionKind>;

interface Words {
  readonly reason?: string;
  readonly response?: unknown;
}

/** The same words and the same response. */
export const saysTheSame = (one: Words, other: Words): boolean =>
  digestOf({ reason: one.reason, response: one.response }) ===
  digestOf({ reason: other.reason, response: other.response });

export const wordsOf = ({ reason, response }: Words): Words => ({
  ...(reason === undefined ? {} : { reason }),
  ...(response === undefined ? {} : { response }),
});

/** What an approval of now is good for. */
export const usableFrom = ({ ruling }: KnownCall, now: Instant): { readonly usableUntil: Instant } => ({
  usableUntil: later(now, ruling.requirement.useWithinSeconds),
});
