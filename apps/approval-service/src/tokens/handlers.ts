import { isTokenId, type Tenant, type TokenId } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import { declined, reply, type Done, type Reply, type TokenMade } from '#contracts/rpc';
import { subjects } from '#contracts/subjects';
import type { IssueToken, RevokeToken } from '#contracts/tokens/commands';
import { handleCommand, type LogServices, type Request } from '#event-log/handle-command';
import { ADMIN_TOKEN_ID, sha256 } from '#service/callers';
import { issuing } from './domain/issue-token.js';
import { revoking } from './domain/revoke-token.js';
import { newToken, tokenText } from './token-text.js';

type Asked<Command> = Request<Command, { readonly caller: Caller }>;

const reachesEveryTenant = (caller: Caller): boolean => caller.tokenId === ADMIN_TOKEN_ID;

/** `bearer` is the caller's own token. The answer alone holds the new one; the fact has its hash, under the new token's tenant. */
export async function issue(
  services: LogServices,
  asked: Asked<IssueToken>,
  bearer: string,
): Promise<Reply<TokenMade>> {
  const { command: body, context, idempotencyKey } = asked;
  const { caller } = context;
  const made = newToken(body, { caller, bearer, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
  const tenant = (body.tenant ?? caller.tenant) as Tenant;
  const command = { body, tokenId: made.tokenId, secretHash: sha256(made.secret), tenant };
  const request = { ...asked, command, tenant, context: { caller, anyTenant: reachesEveryTenant(caller) } };
  const handled = await handleCommand(services, issuing, request);
  if (handled.kind === 'refused') return declined(handled.refusal);
  if (handled.kind !== 'recorded' || handled.fact.event.type !== 'TokenIssued')
    throw new Error(`Issuing ${made.tokenId} gave neither the token nor a refusal`);
  const { expiresAt } = handled.fact.event.data;
  const expires = expiresAt === undefined ? {} : { expiresAt };
  return reply({ id: made.tokenId, token: tokenText(made), tenant, ...expires, seq: handled.fact.seq });
}

export async function revoke(services: LogServices, asked: Asked<RevokeToken>): Promise<Reply<Done>> {
  const { caller } = asked.context;
  const tenant = await tenantOf(services, asked.command.tokenId, caller);
  const handled = await handleCommand(services, revoking, {
    ...asked,
    tenant,
    context: { caller: { ...caller, tenant } },
  });
  if (handled.kind === 'refused') return declined(handled.refusal);
  const recorded = handled.kind === 'recorded';
  return reply({ seq: recorded ? handled.fact.seq : (handled.state.revoked?.seq ?? 0), recorded });
}

/** The admin token reaches a token in whatever tenant it is; everybody else their own tenant's. */
async function tenantOf({ log }: LogServices, tokenId: TokenId, caller: Caller): Promise<Tenant> {
  if (!reachesEveryTenant(caller) || !isTokenId(tokenId)) return caller.tenant;
  return (await log.last(subjects.issuedInAnyTenant(tokenId)))?.tenant ?? caller.tenant;
}
