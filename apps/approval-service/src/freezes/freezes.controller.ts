import { Controller, Inject } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { SwitchFreeze } from '#contracts/freezes/commands';
import { declined, reply, rpcSubject, type Ask, type Done, type Reply } from '#contracts/rpc';
import { handleCommand, type Request } from '#event-log/handle-command';
import { answer, type AskedServices } from '#service/answer';
import { switching } from './domain/switch-freeze.js';

const named = rpcSubject['approval-service'];
const SWITCH = { shape: SwitchFreeze, roles: ['operator'], actorKind: 'person' } as const;

export const FREEZES = Symbol('freezes');

@Controller()
export class FreezesController {
  constructor(@Inject(FREEZES) private readonly freezes: AskedServices) {}

  @MessagePattern(named('SwitchFreeze'))
  switch(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.freezes.callers, SWITCH, ask, ({ request }) => switchFreeze(this.freezes, request));
  }
}

async function switchFreeze(services: AskedServices, request: Request<SwitchFreeze, object>): Promise<Reply<Done>> {
  const handled = await handleCommand(services, switching, request);
  if (handled.kind === 'refused') return declined(handled.refusal);
  if (handled.kind === 'recorded') return reply({ seq: handled.fact.seq, recorded: true });
  return reply({ seq: handled.state.seq, recorded: false });
}
