import { createHash, timingSafeEqual } from 'node:crypto';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { instant, isTenant, isTokenId, type Tenant, type TokenId } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import { placeOf, subjects } from '#contracts/subjects';
import type { TokenIssued } from '#contracts/tokens/events';
import type { FactReader } from '#fold/read';

export const ADMIN_TOKEN_ID = 'admin' as TokenId;
const KEPT_MS = 60_000;
const KEPT_MAX = 10_000;
const TOKEN = /^hp_(tk_[a-z2-7]{26})_([A-Za-z0-9_-]{20,100})$/;

interface Known {
  readonly issued: TokenIssued;
  readonly tenant: Tenant;
  readonly revoked: boolean;
  readonly readAt: number;
}

/**
 * Says who a bearer token is. Tokens are facts: read from the log, never from Postgres, and kept for a minute (design 6),
 * or until somebody who follows the log hears that one was revoked.
 */
export class Callers {
  private readonly kept = new Map<TokenId, Known>();
  private forgotten = 0;

  constructor(
    private readonly log: FactReader,
    private readonly adminToken: string | undefined,
    private readonly now: () => number = Date.now,
  ) {}

  /** `tenant` is the `Holdpoint-Tenant` header: the admin token alone may choose. Nobody where the token is not good. */
  async identify(token: string, tenant?: string): Promise<Caller | undefined> {
    if (this.adminToken !== undefined && sameSecret(sha256(token), sha256(this.adminToken)))
      return admin(tenant ?? 'default');
    const [, tokenId = '', secret = ''] = TOKEN.exec(token) ?? [];
    if (!isTokenId(tokenId)) return undefined;
    const known = await this.lookUp(tokenId);
    if (!known || known.revoked || !sameSecret(sha256(secret), known.issued.secretHash)) return undefined;
    if (known.issued.expiresAt !== undefined && known.issued.expiresAt <= instant(this.now())) return undefined;
    return callerOf(known);
  }

  forget(tokenId: TokenId): void {
    this.forgotten += 1;
    this.kept.delete(tokenId);
  }

  private async lookUp(tokenId: TokenId): Promise<Known | undefined> {
    const kept = this.kept.get(tokenId);
    if (kept && this.now() - kept.readAt < KEPT_MS) return kept;
    const { forgotten } = this;
    const known = await readToken(this.log, tokenId, this.now());
    this.kept.delete(tokenId);
    // What was revoked while it was read may have been read before.
    if (known && forgotten === this.forgotten) this.keep(tokenId, known);
    return known;
  }

  private keep(tokenId: TokenId, known: Known): void {
    const [oldest] = this.kept.keys();
    if (this.kept.size >= KEPT_MAX && oldest !== undefined) this.kept.delete(oldest);
    this.kept.set(tokenId, known);
  }
}

async function readToken(log: FactReader, tokenId: TokenId, readAt: number): Promise<Known | undefined> {
  const issued = await log.last(subjects.issuedInAnyTenant(tokenId));
  if (!isIssued(issued)) return undefined;
  const { tenant } = placeOf(issued.subject);
  const revoked = (await log.last(subjects.over(tenant, tokenId))) !== undefined;
  return { issued: issued.event.data, tenant, revoked, readAt };
}

type Issued = Recorded<Extract<HoldpointEvent, { type: 'TokenIssued' }>>;
const isIssued = (fact: Recorded<HoldpointEvent> | undefined): fact is Issued => fact?.event.type === 'TokenIssued';

function callerOf({ issued, tenant }: Known): Caller {
  const { secretHash: _, name: __, groups = [], ...rest } = issued;
  return { ...rest, groups, tenant };
}

function admin(tenant: string): Caller | undefined {
  if (!isTenant(tenant)) return undefined;
  return { tenant, tokenId: ADMIN_TOKEN_ID, subject: 'admin', roles: ['admin'], groups: [] };
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const sameSecret = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
