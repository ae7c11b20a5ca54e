import type { DynamicModule } from '@nestjs/common';
import { runAutomation, type AutomationReport } from '#automation/run-automation';
import { PoliciesInForce } from '#policy/in-force';
import { background } from '#service/background';
import type { Service } from '#service/run-service';
import { whenTurnSupersededThenCancelTurn } from './automations/when-turn-superseded-then-cancel-turn.js';
import type { TurnServices } from './handlers.js';
import { TURNS, TurnsController } from './turns.controller.js';

/** What of a service the turns need. */
export interface TurnsService extends Pick<Service, 'callers' | 'logger' | 'stopping'> {
  readonly broker: Pick<Service['broker'], 'events' | 'commands' | 'clock' | 'preparePool'>;
  readonly settings: Pick<Service['settings'], 'leaseSeconds'>;
}

/** Owns turns: who has which, what each tool gave, how it ended. */
export class TurnsModule {
  static with(service: TurnsService): DynamicModule {
    const { broker, callers, logger, settings } = service;
    const { events: log, commands, clock } = broker;
    const turns: TurnServices = {
      log,
      commands,
      clock,
      policies: new PoliciesInForce(log),
      preparePool: (tenant, pool) => broker.preparePool(tenant, pool),
      leaseSeconds: settings.leaseSeconds,
    };
    const report: AutomationReport = {
      failed: (automation, { seq }, error, deliveries) =>
        logger.error({ err: error, automation, seq, deliveries }, 'a reaction failed, and is tried again'),
    };
    const supersede = whenTurnSupersededThenCancelTurn(turns);
    return {
      module: TurnsModule,
      controllers: [TurnsController],
      providers: [
        { provide: TURNS, useValue: { ...turns, callers } },
        background(service, [
          { name: 'turn-superseded', run: (signal) => runAutomation(log, supersede, report, signal) },
        ]),
      ],
    };
  }
}
