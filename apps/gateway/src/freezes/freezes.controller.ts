import { Body, Controller, Query } from '@nestjs/common';
import { SwitchFreeze } from '#contracts/freezes/commands';
import { ListQuery } from '#contracts/queries';
import { readFreezes, type Freeze } from '#fold/freezes';
import { From, type Asker } from '../auth/asker.js';
import { Deciders } from '../deciders/deciders.js';
import { On } from '../http/on.js';
import { decodeCursor, pageOf, wrongCursor, type Page } from '../lists/page.js';
import { ReadTurns } from '../turns/read-turns.js';

@Controller()
export class FreezesController {
  constructor(
    private readonly deciders: Deciders,
    private readonly turns: ReadTurns,
  ) {}

  /** From the log: it must be known while Postgres is away, and is always as new as `after` asks for. */
  @On('listFreezes')
  async list(@From() { caller }: Asker, @Query() { limit = 50, cursor }: ListQuery): Promise<Page<Freeze>> {
    const { on } = await readFreezes(this.turns.log, caller.tenant);
    const seen = cursor === undefined ? 0 : Number(decodeCursor(cursor)[1]);
    if (Number.isNaN(seen)) throw wrongCursor();
    return pageOf(
      on.filter(({ seq }) => seq > seen),
      limit,
      { item: (freeze) => freeze, position: ({ at, seq }) => [at, String(seq)] },
    );
  }

  @On('switchFreeze')
  async switch(@From() { credentials }: Asker, @Body() body: SwitchFreeze): Promise<object> {
    const { seq, recorded } = await this.deciders.approvals('SwitchFreeze', credentials, body);
    return { ...body, recorded, seq };
  }
}
