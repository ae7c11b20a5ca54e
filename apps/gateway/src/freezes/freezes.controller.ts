import { Body, Controller } from '@nestjs/common';
import { SwitchFreeze } from '#contracts/freezes/commands';
import { readFreezes, type Freeze } from '#fold/freezes';
import { From, type Asker } from '../auth/asker.js';
import { Deciders } from '../deciders/deciders.js';
import { On } from '../http/on.js';
import { ReadTurns } from '../turns/read-turns.js';

@Controller()
export class FreezesController {
  constructor(
    private readonly deciders: Deciders,
    private readonly turns: ReadTurns,
  ) {}

  /** From the log: it must be known while Postgres is away. */
  @On('listFreezes')
  async list(@From() { caller }: Asker): Promise<{ readonly items: readonly Freeze[] }> {
    const { on } = await readFreezes(this.turns.log, caller.tenant);
    return { items: on };
  }

  @On('switchFreeze')
  async switch(@From() { credentials }: Asker, @Body() body: SwitchFreeze): Promise<object> {
    const { seq, recorded } = await this.deciders.approvals('SwitchFreeze', credentials, body);
    return { ...body, recorded, seq };
  }
}
