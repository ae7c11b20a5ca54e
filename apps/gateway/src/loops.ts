import type { AutomationReport } from '#automation/run-automation';
import type { Loop } from '#service/background';
import type { Logger } from '#service/logger';
import type { Service } from '#service/run-service';
import { continueClosedTurns } from './continuations/continue-closed-turns.js';
import { offerAgain } from './continuations/offer-again.js';
import { reconcileUntil, type ReadyPage } from './continuations/reconcile.js';
import type { Parts } from './gateway.module.js';
import type { ReadModel } from './lists/read-model.js';
import { readyTurnKeys } from './lists/turns.query.js';

export type Report = (error: unknown, what: string) => void;

export const reportTo =
  (logger: Logger): Report =>
  (error, what) =>
    logger.error({ err: error, what }, 'failed, and is tried again');

const reactionReport = (logger: Logger): AutomationReport => ({
  failed: (durable, { seq, subject }, error, deliveries) =>
    logger.error({ err: error, durable, seq, subject, deliveries }, 'could not continue a turn, and tries again'),
});

/** What goes on in every gateway as long as it lives: decisions become continuations, and nothing that is ready stays silent. */
export function loopsOf(service: Service, parts: Parts, readModel: ReadModel): readonly Loop[] {
  const { due, turns, changes } = parts;
  const report = reportTo(service.logger);
  const { events } = service.broker;
  const ready = (page: ReadyPage) => readyTurnKeys(readModel, { now: turns.now(), ...page });
  changes.onFreeing(
    (fact) => void offerAgain(events, due.offers, fact).catch((error: unknown) => report(error, 'offer again')),
  );
  return [
    { name: 'live changes', run: (signal) => changes.run(signal) },
    {
      name: 'continue',
      run: (signal) => continueClosedTurns({ ...due, events, turns }, reactionReport(service.logger), signal),
    },
    { name: 'reconcile', run: (signal) => reconcileUntil({ ...due, events, readyTurnKeys: ready, report }, signal) },
  ];
}
