import type { ApprovalId } from '#contracts/ids';
import type { PublishPolicy } from '#contracts/policies/commands';
import { refusal, type Refusal } from '#contracts/refusals';
import { declined, reply, type PolicyMade, type Reply } from '#contracts/rpc';
import { handleCommand, type LogServices, type Request } from '#event-log/handle-command';
import type { ReadDenials } from '../projections/approvals/denials.query.js';
import { publishing, refusePolicy } from './domain/publish-policy.js';
import { regretOf } from './regret.js';

export interface PublishingServices extends LogServices {
  readonly denials: ReadDenials;
}

const SHOWN = 10;

const regret = (ids: readonly ApprovalId[]): Refusal =>
  refusal(
    'conflict',
    `It would approve without a person ${ids.length} calls that people denied, among them ${ids.slice(0, SHOWN).join(', ')}. If that is meant, say "acknowledgeRegret": true`,
  );

/** What is wrong with it is said first: it needs neither the log nor the read model. */
export async function publish(
  services: PublishingServices,
  request: Request<PublishPolicy, object>,
): Promise<Reply<PolicyMade>> {
  const { command, tenant } = request;
  const invalid = refusePolicy(command);
  if (invalid) return declined(invalid);
  const regretted = command.acknowledgeRegret ? [] : await regretOf(services, tenant, command);
  if (regretted.length > 0) return declined(regret(regretted));
  const handled = await handleCommand(services, publishing, request);
  if (handled.kind === 'refused') return declined(handled.refusal);
  if (handled.kind === 'recorded' && handled.fact.event.type === 'PolicyPublished') {
    const { version, hash } = handled.fact.event.data;
    return reply({ version, hash, seq: handled.fact.seq });
  }
  const { newest, seq } = handled.state;
  if (!newest) throw new Error('Publishing a policy gave neither a version nor a refusal');
  return reply({ version: newest.version, hash: newest.hash, seq });
}
