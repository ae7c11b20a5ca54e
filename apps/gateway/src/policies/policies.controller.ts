import { Body, Controller, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { PublishPolicy, SimulatePolicy } from '#contracts/policies/commands';
import { ListQuery } from '#contracts/queries';
import type { PolicyMade } from '#contracts/rpc';
import { policyErrors } from '#policy/check-policy';
import { From, type Asker } from '../auth/asker.js';
import { Deciders } from '../deciders/deciders.js';
import { ndjson } from '../http/ndjson.js';
import { On } from '../http/on.js';
import { refused } from '../http/problem.js';
import { Lists } from '../operations/lists.js';
import { ReadTurns } from '../turns/read-turns.js';
import { simulate } from './simulate.js';

@Controller()
export class PoliciesController {
  constructor(
    private readonly deciders: Deciders,
    private readonly lists: Lists,
    private readonly turns: ReadTurns,
  ) {}

  @On('listPolicies')
  list(@From() { caller }: Asker, @Query() query: ListQuery): Promise<object> {
    return this.lists.policies(caller, query);
  }

  @On('publishPolicy')
  publish(@From() { credentials }: Asker, @Body() body: PublishPolicy): Promise<PolicyMade> {
    return this.deciders.approvals('PublishPolicy', credentials, body);
  }

  /** As fast as the client reads; whoever goes away ends it. */
  @On('simulatePolicy')
  simulate(@From() { caller }: Asker, @Body() body: SimulatePolicy, @Res() reply: FastifyReply): void {
    const errors = policyErrors(body);
    if (errors.length > 0) throw refused('invalid-input', 'The draft is not valid', { errors });
    void reply.type('application/x-ndjson').send(ndjson(simulate(this.turns.log, caller.tenant, body)));
  }
}
