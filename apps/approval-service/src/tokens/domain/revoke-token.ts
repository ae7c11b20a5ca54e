import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import { hasRole } from '#contracts/roles';
import type { RevokeToken } from '#contracts/tokens/commands';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { readToken, type AboutToken, type TokenState } from './token.js';

type Context = AboutToken & { readonly now: Instant };

/** For ever: a revoked token does not come back. */
export function revokeToken(
  { tokenId }: RevokeToken,
  { issued, revoked }: TokenState,
  { caller }: Context,
): Answer<HoldpointEvent, Refusal> {
  if (!hasRole(caller, 'admin')) return refuse(refusal('forbidden', 'Only an admin revokes tokens'));
  if (issued?.tenant !== caller.tenant) return refuse(refusal('not-found', 'There is no token with this id'));
  if (revoked) return nothingToDo;
  return accept({ type: 'TokenRevoked', data: { tokenId } });
}

export const revoking: Rule<RevokeToken, TokenState, AboutToken> = {
  read: (log, _tenant, { tokenId }) => readToken(log, tokenId),
  decide: revokeToken,
  correlate: ({ tokenId }) => tokenId,
};
