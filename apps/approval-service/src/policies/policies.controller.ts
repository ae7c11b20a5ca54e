import { Controller, Inject } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import type { ApprovalId } from '#contracts/ids';
import { PublishPolicy } from '#contracts/policies/commands';
import { refusal, type Refusal } from '#contracts/refusals';
import { declined, reply, rpcSubject, type Ask, type PolicyMade, type Reply } from '#contracts/rpc';
import { handleCommand, type LogServices, type Request } from '#event-log/handle-command';
import { answer } from '#service/answer';
import type { Callers } from '#service/callers';
import type { ReadDenials } from '../projections/approvals/denials.query.js';
import { publishing } from './domain/publish-policy.js';
import { regretOf } from './regret.js';

const named = rpcSubject['approval-service'];
const PUBLISH = { shape: PublishPolicy, roles: ['operator'], actorKind: 'person' } as const;

export interface PolicyServices extends LogServices {
  readonly callers: Callers;
  readonly denials: ReadDenials;
}
export const POLICIES = Symbol('policies');

@Controller()
export class PoliciesController {
  constructor(@Inject(POLICIES) private readonly policies: PolicyServices) {}

  @MessagePattern(named('PublishPolicy'))
  publish(@Payload() ask: Ask): Promise<Reply<PolicyMade>> {
    return answer(this.policies.callers, PUBLISH, ask, ({ request }) => publish(this.policies, request));
  }
}

const SHOWN = 10;

const regret = (ids: readonly ApprovalId[]): Refusal =>
  refusal(
    'conflict',
    `It would approve without a person ${ids.length} calls that people denied, among them ${ids.slice(0, SHOWN).join(', ')}. If that is meant, say "acknowledgeRegret": true`,
  );

async function publish(services: PolicyServices, request: Request<PublishPolicy, object>): Promise<Reply<PolicyMade>> {
  const { command, tenant } = request;
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
