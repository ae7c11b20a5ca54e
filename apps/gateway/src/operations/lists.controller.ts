import { Controller, Query } from '@nestjs/common';
import { ApprovalsQuery, ListQuery, StreamQuery, TurnsQuery } from '#contracts/queries';
import { From, type Asker } from '../auth/asker.js';
import { On } from '../http/on.js';
import { Lists } from './lists.js';

@Controller()
export class ListsController {
  constructor(private readonly lists: Lists) {}

  @On('listApprovals')
  approvals(@From() { caller }: Asker, @Query() query: ApprovalsQuery): Promise<object> {
    return this.lists.approvals(caller, query);
  }

  @On('listTurns')
  turns(@From() { caller }: Asker, @Query() query: TurnsQuery): Promise<object> {
    return this.lists.readyTurns(caller, query);
  }

  @On('listTokens')
  tokens(@From() { caller }: Asker, @Query() query: ListQuery): Promise<object> {
    return this.lists.tokens(caller, query);
  }

  @On('listParked')
  parked(@From() { caller }: Asker, @Query() query: ListQuery): Promise<object> {
    return this.lists.parked(caller, query);
  }

  @On('stats')
  stats(@From() { caller }: Asker, @Query() query: StreamQuery): Promise<object> {
    return this.lists.stats(caller, query);
  }
}
