import { Body, Controller, Param } from '@nestjs/common';
import type { LeaseKey } from '#contracts/ids';
import { AttemptBody, WorkerBody } from '#contracts/turns/commands';
import { PullBody } from '#contracts/turns/requests';
import type { Continuation } from '#fold/continuation';
import { From, Gone, type Asker } from '../auth/asker.js';
import { done } from '../continuations/done.js';
import { Offers } from '../continuations/offers.js';
import { Deciders } from '../deciders/deciders.js';
import { On } from '../http/on.js';
import { ReadTaken } from './read-taken.js';
import { ReadTurns } from './read-turns.js';

@Controller()
export class ContinuationsController {
  constructor(
    private readonly deciders: Deciders,
    private readonly turns: ReadTurns,
    private readonly taken: ReadTaken,
    private readonly offers: Offers,
  ) {}

  @On('pull')
  pull(
    @From() { caller, credentials }: Asker,
    @Param('pool') pool: string,
    @Body() body: PullBody,
    @Gone() signal: AbortSignal,
  ): Promise<{ items: readonly Continuation[] }> {
    const preparePool = async () => void (await this.deciders.orchestrator('PreparePool', credentials, { pool }));
    return this.offers.pull({ caller, pool, ...body, signal, preparePool });
  }

  @On('resume')
  async resume(
    @From() { caller, credentials }: Asker,
    @Param('leaseId') key: LeaseKey,
    @Body() { workerId }: WorkerBody,
  ): Promise<object> {
    const lease = await this.deciders.orchestrator('ResumeTurn', credentials, { key, workerId, asHolder: false });
    const { executions } = await this.taken.after(caller, key, lease.seq);
    return { ...lease, executions };
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

  @On('done')
  async done(
    @From() { caller }: Asker,
    @Param('leaseId') key: LeaseKey,
    @Body() { workerId, attempt }: AttemptBody,
  ): Promise<object> {
    return { done: true, ...(await done(this.turns, { caller, key, workerId, attempt })) };
  }
}
