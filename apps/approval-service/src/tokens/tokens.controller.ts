import { Controller, Inject } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { rpcSubject, type Ask, type Done, type Reply, type TokenMade } from '#contracts/rpc';
import { IssueToken, RevokeToken } from '#contracts/tokens/commands';
import { answer, type AskedServices } from '#service/answer';
import { issue, revoke } from './handlers.js';

const named = rpcSubject['approval-service'];

const ISSUE = { shape: IssueToken, roles: ['admin'], actorKind: 'person' } as const;
const REVOKE = { shape: RevokeToken, roles: ['admin'], actorKind: 'person' } as const;

export const TOKENS = Symbol('tokens');

@Controller()
export class TokensController {
  constructor(@Inject(TOKENS) private readonly tokens: AskedServices) {}

  @MessagePattern(named('IssueToken'))
  issue(@Payload() ask: Ask): Promise<Reply<TokenMade>> {
    return answer(this.tokens.callers, ISSUE, ask, ({ request }) => issue(this.tokens, request, ask.token));
  }

  @MessagePattern(named('RevokeToken'))
  revoke(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.tokens.callers, REVOKE, ask, ({ request }) => revoke(this.tokens, request));
  }
}
