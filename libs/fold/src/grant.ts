import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { GrantIssued } from '#contracts/grants/events';
import type { GrantId, Instant, Tenant } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import type { FactReader } from './read.js';

/** A standing decision as the log tells it. */
export interface Grant extends GrantIssued {
  /** Whose decision it is. */
  readonly by: string;
  readonly at: Instant;
  /** Of the fact that issued it: it is for requests after this. */
  readonly seq: number;
  /** How many of its uses were taken, and when the last was. */
  readonly used: number;
  readonly usedSeq: number;
  readonly end?: GrantEnd;
}

export interface GrantEnd {
  readonly by: string;
  readonly at: Instant;
  readonly seq: number;
  readonly reason?: string;
}

export type GrantStatus = 'active' | 'used-up' | 'expired' | 'ended';

type Bounded = Pick<Grant, 'used' | 'maxUses' | 'expiresAt'> & { readonly end?: unknown };

export function grantStatus({ end, used, maxUses, expiresAt }: Bounded, now: Instant): GrantStatus {
  if (end) return 'ended';
  if (now >= expiresAt) return 'expired';
  return used >= maxUses ? 'used-up' : 'active';
}

export function evolveGrant(grant: Grant | undefined, fact: Recorded<HoldpointEvent>): Grant | undefined {
  const { event, actor, occurredAt: at, seq } = fact;
  if (event.type === 'GrantIssued') return { ...event.data, by: actor.id, at, seq, used: 0, usedSeq: 0 };
  if (!grant) return undefined;
  if (event.type === 'GrantRedeemed') return { ...grant, used: event.data.n, usedSeq: seq };
  const end = endOf(fact);
  return end ? { ...grant, end } : grant;
}

function endOf({ event, actor, occurredAt: at, seq }: Recorded<HoldpointEvent>): GrantEnd | undefined {
  if (event.type !== 'GrantEnded') return undefined;
  const { reason } = event.data;
  return { by: actor.id, at, seq, ...(reason === undefined ? {} : { reason }) };
}

/** Read by itself wherever its answer is a no: of more reads than one, any could be behind. */
export async function readGrantEnd(log: FactReader, tenant: Tenant, id: GrantId): Promise<GrantEnd | undefined> {
  const over = await log.last(subjects.over(tenant, id));
  return over && endOf(over);
}

/** The last use says how many there were. */
export async function readGrant(log: FactReader, tenant: Tenant, id: GrantId): Promise<Grant | undefined> {
  const [issued, ...later] = await Promise.all([
    log.last(subjects.issued(tenant, id)),
    log.last(subjects.redemptions(tenant, id)),
    log.last(subjects.over(tenant, id)),
  ]);
  return [issued, ...later].filter((fact) => fact !== undefined).reduce(evolveGrant, undefined);
}
