import { Controller, Param, Query } from '@nestjs/common';
import { EventsQuery } from '#contracts/queries';
import { From, type Asker } from '../auth/asker.js';
import { Deciders } from '../deciders/deciders.js';
import { On } from '../http/on.js';
import { ReadTurns } from '../turns/read-turns.js';
import { eventsPage, type EventsPage } from './events-page.js';

@Controller()
export class EventsController {
  constructor(
    private readonly turns: ReadTurns,
    private readonly deciders: Deciders,
  ) {}

  @On('listEvents')
  list(@From() { caller }: Asker, @Query() query: EventsQuery): Promise<EventsPage> {
    return eventsPage(this.turns.log, caller.tenant, query);
  }

  @On('unpark')
  async unpark(@From() { credentials }: Asker, @Param('parkedId') approvalId: string): Promise<object> {
    const { seq, recorded } = await this.deciders.approvals('UnparkApproval', credentials, { approvalId });
    return { approvalId, unparked: recorded, seq };
  }
}
