import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant, LeaseKey, TokenId } from '#contracts/ids';

/** Who has a continuation, from the last `res.<n>` fact: extension, give-back and takeover compete for the next one. */
export type Lease =
  | { readonly state: 'never-taken' }
  | {
      readonly state: 'taken' | 'given-back';
      readonly key: LeaseKey;
      readonly n: number;
      readonly attempt: number;
      readonly workerId: string;
      readonly tokenId: TokenId;
      /** When the attempt began. */
      readonly since: Instant;
      /** Past it the lease is over, and the next who asks may take it. */
      readonly until: Instant;
    };

export const NEVER_TAKEN: Lease = { state: 'never-taken' };

export const isAlive = (lease: Lease, now: Instant): boolean => lease.state === 'taken' && now < lease.until;

export const lastAttempt = (lease: Lease): number => (lease.state === 'never-taken' ? 0 : lease.attempt);
export const nextPlace = (lease: Lease): number => (lease.state === 'never-taken' ? 1 : lease.n + 1);

/** The fencing check: an older attempt, another token or another worker has nothing to say here any more. */
export const isHeldBy = (lease: Lease, by: { attempt: number; workerId: string; tokenId: TokenId }): boolean =>
  lease.state !== 'never-taken' &&
  lease.attempt === by.attempt &&
  lease.workerId === by.workerId &&
  lease.tokenId === by.tokenId;

export type LeaseEvent = Extract<HoldpointEvent, { type: 'TurnResumed' | 'LeaseExtended' | 'LeaseGivenBack' }>;

/** The last fact alone says who has it. */
export function leaseAfter({ type, data }: LeaseEvent, { occurredAt }: Pick<Recorded, 'occurredAt'>): Lease {
  const { key, n, attempt, workerId, tokenId, since } = data;
  const story = { key, n, attempt, workerId, tokenId, since };
  return type === 'LeaseGivenBack'
    ? { state: 'given-back', ...story, until: occurredAt }
    : { state: 'taken', ...story, until: data.leaseUntil };
}
