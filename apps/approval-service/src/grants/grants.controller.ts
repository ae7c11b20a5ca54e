import { Controller, Inject } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { EndGrant, IssueGrant } from '#contracts/grants/commands';
import { rpcSubject, type Ask, type Done, type GrantMade, type Reply } from '#contracts/rpc';
import { answer, type AskedServices } from '#service/answer';
import { end, issue } from './handlers.js';

const named = rpcSubject['approval-service'];
const ISSUE = { shape: IssueGrant, roles: ['approver', 'operator'], actorKind: 'person' } as const;
const END = { shape: EndGrant, roles: ['approver', 'operator'], actorKind: 'person' } as const;

export const GRANTS = Symbol('grants');

@Controller()
export class GrantsController {
  constructor(@Inject(GRANTS) private readonly grants: AskedServices) {}

  @MessagePattern(named('IssueGrant'))
  issue(@Payload() ask: Ask): Promise<Reply<GrantMade>> {
    return answer(this.grants.callers, ISSUE, ask, ({ request }) => issue(this.grants, request));
  }

  @MessagePattern(named('EndGrant'))
  end(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.grants.callers, END, ask, ({ request }) => end(this.grants, request));
  }
}
