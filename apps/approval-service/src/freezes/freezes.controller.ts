import { Controller, Inject } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { SwitchFreeze } from '#contracts/freezes/commands';
import { rpcSubject, type Ask, type Done, type Reply } from '#contracts/rpc';
import { handleCommand } from '#event-log/handle-command';
import { answer, doneReply, type AskedServices } from '#service/answer';
import { switching } from './domain/switch-freeze.js';

const named = rpcSubject['approval-service'];
const SWITCH = { shape: SwitchFreeze, roles: ['operator'], actorKind: 'person' } as const;

export const FREEZES = Symbol('freezes');

@Controller()
export class FreezesController {
  constructor(@Inject(FREEZES) private readonly freezes: AskedServices) {}

  @MessagePattern(named('SwitchFreeze'))
  switch(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.freezes.callers, SWITCH, ask, async ({ request }) =>
      doneReply(await handleCommand(this.freezes, switching, request), ({ seq }) => seq),
    );
  }
}
