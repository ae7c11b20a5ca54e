import type { JetStreamManager } from '@nats-io/jetstream';
import { EVENTS_STREAM } from '#contracts/subjects';
import { Unavailable } from '#decider/unavailable';
import type { Clock } from '#event-log/handle-command';

const MOST_ASTRAY_MS = 2_000;
const CHECK_EVERY_MS = 10_000;

/** This service's clock, held against the broker's: over 2 s away from it, no step that depends on time is taken (design 3.1). */
export class CheckedClock {
  private astrayMs = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly brokerTime: () => Promise<number>,
    private readonly ownTime: () => number = Date.now,
  ) {
    this.timer = setInterval(() => void this.check(), CHECK_EVERY_MS);
    this.timer.unref();
  }

  readonly now: Clock = () => {
    if (this.isAstray()) throw new Unavailable(`This service's clock is ${this.astrayMs} ms away from the broker's`);
    return this.ownTime();
  };

  isAstray = (): boolean => Math.abs(this.astrayMs) > MOST_ASTRAY_MS;

  /** A check that gets no answer, or a slow one, says nothing about the clock: the last good one stands. */
  async check(): Promise<void> {
    const before = this.ownTime();
    const broker = await this.brokerTime().catch(() => undefined);
    const took = this.ownTime() - before;
    if (broker !== undefined && !Number.isNaN(broker) && took < MOST_ASTRAY_MS)
      this.astrayMs = Math.round(before + took / 2 - broker);
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

/** The leader stamps its answers. */
export const brokerTimeOf = (manager: JetStreamManager) => async (): Promise<number> => {
  const { ts } = await manager.streams.info(EVENTS_STREAM);
  return ts === undefined ? Number.NaN : Date.parse(ts);
};
