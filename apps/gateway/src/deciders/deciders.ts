import type { ClientProxy } from '@nestjs/microservices';
import { firstValueFrom, timeout } from 'rxjs';
import { rpcSubject, type ApprovalCommand, type Ask, type Decided, type Done, type LeaseTaken } from '#contracts/rpc';
import type { GrantMade, OrchestratorCommand, PolicyMade, Reply, TokenMade, TurnOpened } from '#contracts/rpc';
import type { Logger } from '#service/logger';
import type { Credentials } from '../auth/credentials.js';
import { Refused, refused } from '../http/problem.js';

interface OrchestratorAnswers {
  readonly OpenTurn: TurnOpened;
  readonly ResumeTurn: LeaseTaken;
  readonly ExtendLease: LeaseTaken;
  readonly GiveBackLease: Done;
  readonly ReportOutcome: Done;
  readonly SettleExecution: Done;
  readonly EndTurn: Done;
  readonly CancelTurn: Done;
  readonly PreparePool: unknown;
  readonly Health: unknown;
}

interface ApprovalAnswers {
  readonly DecideApproval: Decided;
  readonly WithdrawVote: Done;
  readonly UseApproval: Done;
  readonly RevokeApproval: Done;
  readonly CloseTurnApprovals: Done;
  readonly PublishPolicy: PolicyMade;
  readonly SwitchFreeze: Done;
  readonly IssueGrant: GrantMade;
  readonly EndGrant: Done;
  readonly IssueToken: TokenMade;
  readonly RevokeToken: Done;
  readonly UnparkApproval: Done;
  readonly Health: unknown;
}

const LONGEST_WAIT_MS = 10_000;
const HEALTH_WAIT_MS = 2_000;

/** The gateway's questions to the two services that decide, each over request/reply with the caller's own token. */
export class Deciders {
  constructor(
    private readonly client: ClientProxy,
    private readonly logger: Logger,
  ) {}

  /** Throws `Refused` where the answer is no, or where there is none. */
  orchestrator<Command extends OrchestratorCommand>(
    command: Command,
    from: Credentials,
    body: object,
  ): Promise<OrchestratorAnswers[Command]> {
    return this.ask(rpcSubject.orchestrator(command), { ...from, body });
  }

  approvals<Command extends ApprovalCommand>(
    command: Command,
    from: Credentials,
    body: object,
  ): Promise<ApprovalAnswers[Command]> {
    return this.ask(rpcSubject['approval-service'](command), { ...from, body });
  }

  /** Whether a service answers at all. */
  async answers(service: keyof typeof rpcSubject): Promise<boolean> {
    const ask: Ask = { token: '', body: {} };
    const reply = await this.send(rpcSubject[service]('Health'), ask, HEALTH_WAIT_MS).catch(() => undefined);
    return reply?.ok === true;
  }

  private async ask<Value>(subject: string, ask: Ask): Promise<Value> {
    const reply = await this.send<Value>(subject, ask, LONGEST_WAIT_MS).catch((error: unknown) =>
      this.noAnswer(subject, error),
    );
    if (reply.ok) return reply.value;
    throw new Refused(reply.refusal);
  }

  private send<Value>(subject: string, ask: Ask, waitMs: number): Promise<Reply<Value>> {
    return firstValueFrom(this.client.send<Reply<Value>, Ask>(subject, ask).pipe(timeout(waitMs)));
  }

  /** Nobody there, too late, or a bug over there: whether it was recorded is not known, and it is safe to try again. */
  private noAnswer(subject: string, error: unknown): never {
    this.logger.error({ err: error, subject }, 'a service did not answer');
    throw refused('unavailable', 'The service that decides this did not answer; it is safe to try again', {
      recorded: 'unknown',
    });
  }
}
