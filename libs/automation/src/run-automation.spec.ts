import { describe, expect, it } from '@jest/globals';
import type { Delivery } from '#event-log/log';
import { Unavailable } from '#decider/unavailable';
import { UnreadableFact } from '#event-log/log';
import type { HoldpointEvent } from '#contracts/events';
import type { Recorded } from '#contracts/envelope';
import { DURABLES } from '#event-log/durables';
import { endedTurn, freshTenant } from '#event-log/log.contract';
import { MemoryLog } from '#event-log/memory-log';
import { runAutomation } from './run-automation.js';

/** Runs until the log has delivered and settled what a test wants to see. */
async function run(
  log: MemoryLog,
  react: (fact: Recorded<HoldpointEvent>) => Promise<void>,
  until: (failed: string[]) => boolean,
) {
  const stop = new AbortController();
  const failed: string[] = [];
  const running = runAutomation(
    log,
    { durable: 'approvals', react },
    { failed: (_, { subject }) => void failed.push(subject) },
    stop.signal,
  );
  while (!until(failed)) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  await running;
  return failed;
}

/** A log of which one subject cannot be read. */
class DamagedLog extends MemoryLog {
  constructor(private readonly damaged: string) {
    super(DURABLES);
  }
  override async *deliveries(durable: string, signal: AbortSignal): AsyncIterable<Delivery<HoldpointEvent>> {
    for await (const delivery of super.deliveries(durable, signal)) {
      if (delivery.raw.subject !== this.damaged) yield delivery;
      else
        yield {
          ...delivery,
          read: () => {
            throw new UnreadableFact(delivery.raw.seq, delivery.raw.subject, 'damaged');
          },
        };
    }
  }
}

describe('an automation', () => {
  it('is given a fact again until its work is done, and then no more', async () => {
    const log = new MemoryLog(DURABLES);
    await log.append(endedTurn(freshTenant(), 't-1'));
    let tries = 0;
    await run(
      log,
      () => ((tries += 1) < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve()),
      () => tries >= 3,
    );
    expect(tries).toBe(3);
  });

  it('reports a failure that is one, and not an outage that is short', async () => {
    const log = new MemoryLog(DURABLES);
    await log.append(endedTurn(freshTenant(), 't-1'));
    let tries = 0;
    const failures = [new Unavailable('away'), new Error('a bug')];
    const failed = await run(
      log,
      () => Promise.reject(failures[tries++] ?? new Unavailable('away')),
      () => tries >= 2,
    );
    expect(failed).toHaveLength(1);
  });

  it('says while its work takes long that it is at it', async () => {
    const [long, short] = [endedTurn(freshTenant(), 'long'), endedTurn(freshTenant(), 'short')];
    const worked: string[] = [];
    class WatchedLog extends MemoryLog {
      override async *deliveries(durable: string, signal: AbortSignal): AsyncIterable<Delivery<HoldpointEvent>> {
        for await (const delivery of super.deliveries(durable, signal))
          yield { ...delivery, working: () => void worked.push(delivery.raw.subject) };
      }
    }
    const log = new WatchedLog(DURABLES);
    await log.append(long);
    await log.append(short);
    const done: string[] = [];
    await run(
      log,
      async ({ subject }) => {
        if (subject === long.subject) while (worked.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
        done.push(subject);
      },
      () => done.length === 2,
    );
    expect(worked).toEqual([long.subject, long.subject]);
  }, 30_000);

  it('is not held up by a fact that cannot be read', async () => {
    const tenant = freshTenant();
    const [bad, good] = [endedTurn(tenant, 'bad'), endedTurn(tenant, 'good')];
    const log = new DamagedLog(bad.subject);
    await log.append(bad);
    await log.append(good);
    const done: string[] = [];
    const failed = await run(
      log,
      ({ subject }) => Promise.resolve(void done.push(subject)),
      (reported) => done.length > 0 && reported.length > 0,
    );
    expect(done).toEqual([good.subject]);
    expect(failed).toContain(bad.subject);
  });
});
