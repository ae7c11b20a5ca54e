import { randomUUID } from 'node:crypto';
import type { EndGrant, IssueGrant } from '#contracts/grants/commands';
import { grantIdOf, grantIdOfKey } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import { declined, reply, type Done, type GrantMade, type Reply } from '#contracts/rpc';
import { handleCommand, type LogServices, type Request } from '#event-log/handle-command';
import { doneReply } from '#service/answer';
import { ending } from './domain/end-grant.js';
import { issuing } from './domain/issue-grant.js';

type Asked<Command> = Request<Command, { readonly caller: Caller }>;

export async function issue(services: LogServices, asked: Asked<IssueGrant>): Promise<Reply<GrantMade>> {
  const { tenant, command: body, context, idempotencyKey } = asked;
  const { subject } = context.caller;
  const named =
    idempotencyKey === undefined ? grantIdOf(tenant, randomUUID()) : grantIdOfKey(tenant, subject, idempotencyKey);
  const command = { body, grantId: named };
  const handled = await handleCommand(services, issuing, { ...asked, command });
  if (handled.kind === 'refused') return declined(handled.refusal);
  if (handled.kind !== 'recorded' || handled.fact.event.type !== 'GrantIssued')
    throw new Error(`Issuing ${command.grantId} gave neither the grant nor a refusal`);
  const { grantId, expiresAt, maxUses, schemaDigest } = handled.fact.event.data;
  return reply({ grantId, expiresAt, maxUses, schemaDigest, seq: handled.fact.seq });
}

export const end = async (services: LogServices, asked: Asked<EndGrant>): Promise<Reply<Done>> =>
  doneReply(await handleCommand(services, ending, asked), ({ grant }) => grant?.end?.seq ?? 0);
