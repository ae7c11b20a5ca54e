import type { HoldpointEvent } from '#contracts/events';
import { later, type Instant, type Tenant, type TokenId } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import { hasRole, type Caller } from '#contracts/roles';
import type { IssueToken } from '#contracts/tokens/commands';
import type { TokenIssued } from '#contracts/tokens/events';
import { accept, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { readToken, type TokenState } from './token.js';

/** The request, and what was made for it: its id, and the hash of the secret that only the answer holds. */
export interface MakeToken {
  readonly body: IssueToken;
  readonly tokenId: TokenId;
  readonly secretHash: string;
  readonly tenant: Tenant;
}

interface Issuing {
  readonly caller: Caller;
  /** The admin token alone reaches every tenant. */
  readonly anyTenant: boolean;
}

type Context = Issuing & { readonly now: Instant };

export function issueToken(
  command: MakeToken,
  { issued }: TokenState,
  { caller, anyTenant, now }: Context,
): Answer<HoldpointEvent, Refusal> {
  if (!hasRole(caller, 'admin')) return refuse(refusal('forbidden', 'Only an admin issues tokens'));
  if (!anyTenant && command.tenant !== caller.tenant)
    return refuse(refusal('forbidden', 'You issue tokens of your own tenant only'));
  if (issued) return refuse(refusal('conflict', 'This Idempotency-Key was used before for another token'));
  return accept({ type: 'TokenIssued', data: issuedToken(command, now) });
}

function issuedToken({ body, tokenId, secretHash }: MakeToken, now: Instant): TokenIssued {
  const { tenant: _, expiresInSeconds, ...said } = body;
  const expires = expiresInSeconds === undefined ? {} : { expiresAt: later(now, expiresInSeconds) };
  return { ...said, tokenId, secretHash, ...expires };
}

export const issuing: Rule<MakeToken, TokenState, Issuing> = {
  read: (log, _tenant, { tokenId }) => readToken(log, tokenId),
  decide: issueToken,
  correlate: ({ tokenId }) => tokenId,
};
