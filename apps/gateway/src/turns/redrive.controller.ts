import { Body, Controller, Inject, Param } from '@nestjs/common';
import { ConversationBody } from '#contracts/turns/requests';
import { From, type Asker } from '../auth/asker.js';
import type { DueServices } from '../continuations/offer-due.js';
import { redrive } from '../continuations/redrive.js';
import { On } from '../http/on.js';
import { ReadTurns } from './read-turns.js';

export const DUE = Symbol('what offers a turn that is due');

@Controller()
export class RedriveController {
  constructor(
    @Inject(DUE) private readonly due: DueServices,
    private readonly turns: ReadTurns,
  ) {}

  @On('redriveTurn')
  redrive(
    @From() { caller }: Asker,
    @Param('turnId') turnId: string,
    @Body() { conversationId }: ConversationBody,
  ): Promise<object> {
    return redrive({ ...this.due, turns: this.turns }, { caller, conversationId, turnId });
  }
}
