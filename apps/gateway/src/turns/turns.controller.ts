import { Body, Controller, Inject, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { approvalIdOf, turnKeyOf } from '#contracts/ids';
import type { TurnOpened } from '#contracts/rpc';
import { OpenTurn } from '#contracts/turns/commands';
import { CancelBody, EndBody, ResumeBody, TurnQuery } from '#contracts/turns/requests';
import type { WholeTurn } from '#fold/read';
import type { Caller } from '#contracts/roles';
import { From, Gone, type Asker } from '../auth/asker.js';
import { maySeeArguments, withoutArguments } from '../auth/visibility.js';
import { Deciders } from '../deciders/deciders.js';
import { On } from '../http/on.js';
import { awaitChange, CHANGES, type TurnChanges } from './await-decision.js';
import { ReadTaken } from './read-taken.js';
import { ReadTurns } from './read-turns.js';
import { turnView, type TurnView } from './turn-view.js';

@Controller()
export class TurnsController {
  constructor(
    private readonly deciders: Deciders,
    private readonly turns: ReadTurns,
    private readonly taken: ReadTaken,
    @Inject(CHANGES) private readonly changes: TurnChanges,
  ) {}

  @On('openTurn')
  async open(
    @From() { caller, credentials }: Asker,
    @Body() body: OpenTurn,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const opened = await this.deciders.orchestrator('OpenTurn', credentials, body);
    if (opened.created && credentials.idempotencyKey === undefined) return newTurn(caller, body, opened);
    // Created, with a key, may be the answer to an earlier request: much can have happened since.
    if (!opened.created) void reply.status(200);
    const { turnId, conversationId, status, approvals, seq } = this.view(
      caller,
      await this.turns.named(caller, body.conversationId, opened.turnId),
    );
    return { turnId, conversationId, status, approvals, seq };
  }

  @On('readTurn')
  async read(
    @From() { caller }: Asker,
    @Param('turnId') turnId: string,
    @Query() { conversationId, wait = 0 }: TurnQuery,
    @Gone() gone: AbortSignal,
  ): Promise<TurnView> {
    const read = async () => this.view(caller, await this.turns.named(caller, conversationId, turnId));
    if (wait === 0) return read();
    const turnKey = turnKeyOf(caller.tenant, conversationId, turnId);
    return awaitChange(this.changes, {
      turnKey,
      seconds: wait,
      gone,
      read,
      isDone: ({ status }) => status !== 'awaiting-approval',
    });
  }

  /** The turn ends first, so that nothing more of it can begin; then what it left is closed. */
  @On('cancelTurn')
  async cancel(
    @From() { caller, credentials }: Asker,
    @Param('turnId') turnId: string,
    @Body() body: CancelBody,
  ): Promise<object> {
    const { conversationId, ...rest } = body;
    const turnKey = turnKeyOf(caller.tenant, conversationId, turnId);
    await this.deciders.orchestrator('CancelTurn', credentials, { turnKey, ...rest });
    await this.deciders.approvals('CloseTurnApprovals', credentials, { turnKey });
    const { status, approvals, seq } = this.view(caller, await this.turns.named(caller, conversationId, turnId));
    return {
      turnId,
      conversationId,
      status,
      approvals: approvals.map(({ approvalId, toolCallId, status }) => ({ approvalId, toolCallId, status })),
      seq,
    };
  }

  @On('resumeTurn')
  async resume(
    @From() { caller, credentials }: Asker,
    @Param('turnId') turnId: string,
    @Body() body: ResumeBody,
  ): Promise<object> {
    const { conversationId, workerId } = body;
    const key = turnKeyOf(caller.tenant, conversationId, turnId);
    const lease = await this.deciders.orchestrator('ResumeTurn', credentials, { key, workerId, asHolder: true });
    return { ...lease, leaseId: key, ...(await this.taken.after(caller, key, lease.seq)) };
  }

  @On('endTurn')
  async end(
    @From() { caller, credentials }: Asker,
    @Param('turnId') turnId: string,
    @Body() body: EndBody,
  ): Promise<object> {
    const { conversationId, attempt, status } = body;
    const turnKey = turnKeyOf(caller.tenant, conversationId, turnId);
    const { seq } = await this.deciders.orchestrator('EndTurn', credentials, { turnKey, attempt, status });
    return { turnId, conversationId, status, seq };
  }

  private view(caller: Caller, whole: WholeTurn): TurnView {
    const view = turnView(whole, this.turns.now());
    return maySeeArguments(caller, whole.turn) ? view : withoutArguments(view);
  }
}

/** Nothing has happened to a turn that was just made: no need to read it. */
function newTurn({ tenant }: Caller, { conversationId, toolCalls }: OpenTurn, { turnId, seq }: TurnOpened): object {
  const turnKey = turnKeyOf(tenant, conversationId, turnId);
  const approvals = toolCalls.map(({ toolCallId }, index) => ({
    approvalId: approvalIdOf(turnKey, index),
    toolCallId,
    status: 'pending',
  }));
  return { turnId, conversationId, status: 'awaiting-approval', approvals, seq };
}
