import { Body, Controller, Param } from '@nestjs/common';
import { indexOfApproval, isApprovalId, type LeaseKey } from '#contracts/ids';
import { AttemptBody, WorkerBody } from '#contracts/turns/commands';
import { executionsOf } from '#fold/continuation';
import { From, type Asker } from '../auth/asker.js';
import { Deciders } from '../deciders/deciders.js';
import { On } from '../http/on.js';
import { ReadTurns } from './read-turns.js';

@Controller()
export class ContinuationsController {
  constructor(
    private readonly deciders: Deciders,
    private readonly turns: ReadTurns,
  ) {}

  /** What had been executed is read after the lease was taken: nobody else can execute any more. */
  @On('resume')
  async resume(
    @From() { caller, credentials }: Asker,
    @Param('leaseId') key: LeaseKey,
    @Body() { workerId }: WorkerBody,
  ): Promise<object> {
    const lease = await this.deciders.orchestrator('ResumeTurn', credentials, { key, workerId, asHolder: false });
    const { turn, approvals } = await this.turns.of(caller, key);
    return {
      ...lease,
      executions: executionsOf(turn, approvals, isApprovalId(key) ? indexOfApproval(key) : undefined),
    };
  }

  @On('extend')
  extend(@From() { credentials }: Asker, @Param('leaseId') key: LeaseKey, @Body() body: AttemptBody): Promise<object> {
    return this.deciders.orchestrator('ExtendLease', credentials, { ...body, key });
  }

  @On('giveBack')
  async giveBack(
    @From() { credentials }: Asker,
    @Param('leaseId') key: LeaseKey,
    @Body() body: AttemptBody,
  ): Promise<object> {
    const { seq } = await this.deciders.orchestrator('GiveBackLease', credentials, { ...body, key });
    return { attempt: body.attempt, givenBack: true, seq };
  }
}
