import { later, type Instant } from '#contracts/ids';
import type { ToolApprovalRequested } from '#contracts/turns/events';
import type { FullRequirement } from './join.js';

type Own = Pick<ToolApprovalRequested, 'expiresInSeconds'>;

/** The turn's own deadline may only shorten the requirement's. */
export const expiresAt = (
  { expiresInSeconds: allowed }: FullRequirement,
  { expiresInSeconds }: Own,
  requestedAt: Instant,
): Instant => later(requestedAt, Math.min(expiresInSeconds ?? allowed, allowed));

/** Where time would approve, it does so only after all the time that the policy gives people: an agent cannot make it shorter. */
export const onExpiryOf = (
  { expiresInSeconds: allowed, onExpiry }: FullRequirement,
  { expiresInSeconds = allowed }: Own,
): 'deny' | 'approve' => (expiresInSeconds < allowed ? 'deny' : onExpiry);

/** When a stage begins of which `count` were reached; none where there is no further. */
export function escalatesAt(
  { escalate = [] }: FullRequirement,
  count: number,
  requestedAt: Instant,
): Instant | undefined {
  const next = escalate[count];
  return next && later(requestedAt, next.afterSeconds);
}
