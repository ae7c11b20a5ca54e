import { runAutomation, type Automation } from '#automation/run-automation';
import { Unavailable } from '#decider/unavailable';
import { type Log } from '#event-log/log';
import type { Loop } from '#service/background';
import type { Logger } from '#service/logger';
import { atMostOnceAMinute } from './at-most-once-a-minute.js';

/** Automations as loops: each fails and is tried again by itself. An outage is told once a minute, whatever else is wrong each time. */
export const reactions = (
  log: Log,
  logger: Pick<Logger, 'error'>,
  automations: readonly Automation[],
): readonly Loop[] =>
  automations.map((automation) => {
    const { durable } = automation;
    const away = atMostOnceAMinute((error) =>
      logger.error({ err: error, durable }, 'reactions wait for an outage to end'),
    );
    const failed = (_: string, { seq }: { readonly seq: number }, error: unknown, deliveries: number) =>
      error instanceof Unavailable
        ? away(error)
        : logger.error({ err: error, durable, seq, deliveries }, 'a reaction to a fact failed, and is tried again');
    return { name: durable, run: (signal) => runAutomation(log, automation, { failed }, signal) };
  });
