import type { HoldpointEvent } from '#contracts/events';
import type { Recorded } from '#contracts/envelope';
import { Unavailable } from '#decider/unavailable';
import { ACK_WAIT_MS } from '#event-log/durables';
import { type Delivery, type Log, type RawFact } from '#event-log/log';

/** A reaction: event in, command out. What it writes is write-once, so being given an event twice or late is harmless. */
export interface Automation {
  readonly durable: string;
  readonly react: (fact: Recorded<HoldpointEvent>) => Promise<void>;
}

export interface AutomationReport {
  failed(automation: string, fact: Pick<RawFact, 'seq' | 'subject'>, error: unknown, deliveries: number): void;
}

const CONCURRENT = 16;
const WORKING_MS = ACK_WAIT_MS / 3;
const backOffMs = (deliveries: number): number => Math.min(30_000, 250 * 2 ** Math.min(deliveries, 7));

/** Runs a reaction over a durable subscription until aborted; acknowledges after the work is durable, retries for ever. */
export async function runAutomation(
  log: Log,
  { durable, react }: Automation,
  report: AutomationReport,
  signal: AbortSignal,
): Promise<void> {
  const running = new Set<Promise<void>>();
  for await (const delivery of log.deliveries(durable, signal)) {
    const work = reactTo(delivery, react).then(
      () => delivery.ack(),
      (error: unknown) => {
        if (!(error instanceof Unavailable) || delivery.deliveries > 3)
          report.failed(durable, delivery.raw, error, delivery.deliveries);
        delivery.again(backOffMs(delivery.deliveries));
      },
    );
    running.add(work);
    void work.finally(() => running.delete(work));
    if (running.size >= CONCURRENT) await Promise.race(running);
  }
  await Promise.all(running);
}

/** A fact that cannot be read comes again, and is reported each time, while the others go on. What takes long is given to nobody else. */
async function reactTo(delivery: Delivery<HoldpointEvent>, react: Automation['react']): Promise<void> {
  const timer = setInterval(() => delivery.working(), WORKING_MS);
  try {
    await react(delivery.read());
  } finally {
    clearInterval(timer);
  }
}
