import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { isTokenId, type TokenId } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import { subjects } from '#contracts/subjects';
import type { FactReader } from '#fold/read';

/** A token's facts, in whatever tenant it is. */
export interface TokenState {
  readonly issued?: Recorded<HoldpointEvent>;
  readonly revoked?: Recorded<HoldpointEvent>;
}

export interface AboutToken {
  readonly caller: Caller;
}

/** Ids are unique over all tenants: one that stands in another tenant is taken here too. */
export async function readToken(log: FactReader, tokenId: TokenId): Promise<TokenState> {
  if (!isTokenId(tokenId)) return {};
  const issued = await log.last(subjects.issuedInAnyTenant(tokenId));
  const revoked = issued && (await log.last(subjects.over(issued.tenant, tokenId)));
  return { ...(issued ? { issued } : {}), ...(revoked ? { revoked } : {}) };
}
