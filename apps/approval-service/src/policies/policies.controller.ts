import { Controller, Inject } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { PublishPolicy } from '#contracts/policies/commands';
import { rpcSubject, type Ask, type PolicyMade, type Reply } from '#contracts/rpc';
import { answer } from '#service/answer';
import type { Callers } from '#service/callers';
import { publish, type PublishingServices } from './handlers.js';

const named = rpcSubject['approval-service'];
const PUBLISH = { shape: PublishPolicy, roles: ['operator'], actorKind: 'person' } as const;

export interface PolicyServices extends PublishingServices {
  readonly callers: Callers;
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
