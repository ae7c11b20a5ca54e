import { createHmac, randomBytes } from 'node:crypto';
import { digestOf } from '#contracts/canonical';
import { shortDigest, type TokenId } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import type { IssueToken } from '#contracts/tokens/commands';

/** A new token: its id, and the secret that is shown once and kept nowhere. */
export interface NewToken {
  readonly tokenId: TokenId;
  readonly secret: string;
}

export interface IssuedBy {
  readonly caller: Caller;
  /** The caller's own token: without it nobody can make the secret again. */
  readonly bearer: string;
  readonly idempotencyKey?: string;
}

/** With an `Idempotency-Key` the same request makes the same token again, so that an answer that was lost can be had again. */
export function newToken(body: IssueToken, { caller, bearer, idempotencyKey }: IssuedBy): NewToken {
  if (idempotencyKey === undefined)
    return { tokenId: idOf(randomBytes(32).toString('hex')), secret: randomBytes(32).toString('base64url') };
  const tokenId = idOf(idempotencyKey, caller.tenant, caller.subject);
  const secret = createHmac('sha256', bearer)
    .update(`${tokenId}:${digestOf(body)}`)
    .digest('base64url');
  return { tokenId, secret };
}

export const tokenText = ({ tokenId, secret }: NewToken): string => `hp_${tokenId}_${secret}`;

const idOf = (...parts: readonly string[]): TokenId => `tk_${shortDigest('token', ...parts)}` as TokenId;
