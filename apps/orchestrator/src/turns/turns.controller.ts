import { Controller, Inject } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { rpcSubject, type Ask, type Done, type LeaseTaken, type Reply, type TurnOpened } from '#contracts/rpc';
import {
  CancelTurn,
  EndTurn,
  ExtendLease,
  GiveBackLease,
  OpenTurn,
  PreparePool,
  ReportOutcome,
  ResumeTurn,
  SettleExecution,
} from '#contracts/turns/commands';
import { answer } from '#service/answer';
import type { Callers } from '#service/callers';
import { health } from '#service/health';
import { cancelling, ending } from './domain/end-turn.js';
import { givingBack } from './domain/hold-lease.js';
import { reporting } from './domain/report-outcome.js';
import { settling } from './domain/settle-execution.js';
import { done, extend, open, prepare, resume, type TurnServices } from './handlers.js';

export const TURNS = Symbol('turns');
const named = rpcSubject.orchestrator;
const AGENT = { roles: ['agent'], actorKind: 'agent' } as const;
const OPERATOR = { roles: ['operator'], actorKind: 'person' } as const;

/** The orchestrator's table of contents: what it may be asked, by whom, and the rule that answers. */
@Controller()
export class TurnsController {
  constructor(@Inject(TURNS) private readonly turns: TurnServices & { readonly callers: Callers }) {}

  @MessagePattern(named('OpenTurn'))
  open(@Payload() ask: Ask): Promise<Reply<TurnOpened>> {
    return answer(this.turns.callers, { shape: OpenTurn, ...AGENT }, ask, ({ request }) => open(this.turns, request));
  }

  @MessagePattern(named('ResumeTurn'))
  resume(@Payload() ask: Ask): Promise<Reply<LeaseTaken>> {
    return answer(this.turns.callers, { shape: ResumeTurn, ...AGENT }, ask, ({ request }) =>
      resume(this.turns, request),
    );
  }

  @MessagePattern(named('ExtendLease'))
  extend(@Payload() ask: Ask): Promise<Reply<LeaseTaken>> {
    return answer(this.turns.callers, { shape: ExtendLease, ...AGENT }, ask, ({ request }) =>
      extend(this.turns, request),
    );
  }

  @MessagePattern(named('GiveBackLease'))
  giveBack(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.turns.callers, { shape: GiveBackLease, ...AGENT }, ask, ({ request }) =>
      done(this.turns, givingBack, request),
    );
  }

  @MessagePattern(named('ReportOutcome'))
  report(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.turns.callers, { shape: ReportOutcome, ...AGENT }, ask, ({ request }) =>
      done(this.turns, reporting(this.turns.policies), request),
    );
  }

  @MessagePattern(named('SettleExecution'))
  settle(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.turns.callers, { shape: SettleExecution, ...OPERATOR }, ask, ({ request }) =>
      done(this.turns, settling(this.turns.policies), request),
    );
  }

  @MessagePattern(named('EndTurn'))
  end(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.turns.callers, { shape: EndTurn, ...AGENT }, ask, ({ request }) =>
      done(this.turns, ending, request),
    );
  }

  @MessagePattern(named('CancelTurn'))
  cancel(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.turns.callers, { shape: CancelTurn, ...AGENT }, ask, ({ request }) =>
      done(this.turns, cancelling, request),
    );
  }

  @MessagePattern(named('PreparePool'))
  preparePool(@Payload() ask: Ask): Promise<Reply<{ readonly ok: true }>> {
    return answer(this.turns.callers, { shape: PreparePool, ...AGENT }, ask, ({ request }) =>
      prepare(this.turns, request),
    );
  }

  @MessagePattern(named('Health'))
  health(): Promise<Reply<{ readonly ok: true }>> {
    return health(this.turns);
  }
}
