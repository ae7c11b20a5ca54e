import { describe, expect, it } from '@jest/globals';
import type { Fact } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import { Unavailable } from '#decider/unavailable';
import { type Appended } from '#event-log/log';
import { MemoryLog } from '#event-log/memory-log';
import { readStory } from '#fold/read';
import { PoliciesInForce } from '#policy/in-force';
import {
  after,
  approved,
  CALL,
  DAY,
  NOON,
  recordedAt,
  requested,
  TENANT,
  TURN_KEY,
  type Told,
} from '../domain/stories-for-spec.js';
import { atMostOnceAMinute } from '../../at-most-once-a-minute.js';
import type { DueRow } from '../../projections/due/due.query.js';
import { Resting } from './resting.js';
import { runSweep, sweepOnce } from './sweep.js';

const expiry: DueRow = { tenant: TENANT, approvalId: CALL, what: 'expiry' };
const lapse: DueRow = { ...expiry, what: 'lapse' };
const running = new AbortController().signal;

function sweep(
  rows: readonly DueRow[],
  { second = DAY + 60, append }: { second?: number; append?: () => Promise<Appended> } = {},
) {
  const log = new MemoryLog();
  const asks: { now: string; limit: number }[] = [];
  const failed: unknown[] = [];
  const paused: unknown[] = [];
  const time = { now: Date.parse(after(second)) };
  let tries = 0;
  const counting = Object.assign(Object.create(log) as MemoryLog, {
    append: (fact: Fact<HoldpointEvent>) => {
      tries += 1;
      return append ? append() : log.append(fact);
    },
  });
  const services = {
    log: counting,
    clock: () => time.now,
    policies: new PoliciesInForce(log),
    due: {
      dueBy: (now: string, limit: number) => {
        asks.push({ now, limit });
        return Promise.resolve([...rows].slice(0, limit));
      },
    },
    report: {
      failed: (_: DueRow, error: unknown) => void failed.push(error),
      paused: (error: unknown) => void paused.push(error),
    },
  };
  const tell = async (...facts: readonly Told[]) => {
    for (const fact of facts) await log.append(recordedAt(fact, 0));
  };
  const story = async () =>
    (await readStory(log, subjects.story(TENANT, CALL))).map(({ event, actor }) => [event.type, actor.via]);
  return { services, tell, story, asks, failed, paused, time, tries: () => tries, resting: new Resting(30_000) };
}

describe('the sweep', () => {
  it('expires what is due, as a timer', async () => {
    const one = sweep([expiry]);
    await one.tell(requested());
    await sweepOnce(one.services, one.resting, running);
    expect(await one.story()).toEqual([['ToolApprovalDecided', 'sweep:expiry']]);
    expect(one.asks).toEqual([{ now: after(DAY + 60), limit: 500 }]);
  });

  it('lapses what is due', async () => {
    const one = sweep([lapse]);
    await one.tell(requested(), approved);
    await sweepOnce(one.services, one.resting, running);
    expect((await one.story()).at(-1)).toEqual(['ToolApprovalLapsed', 'sweep:lapse']);
  });

  it('leaves alone for half a minute what it just tried, and asks for as many more', async () => {
    const one = sweep([expiry], { second: 5 });
    await one.tell(requested());
    const read = one.services.log.last.bind(one.services.log);
    let reads = 0;
    one.services.log.last = (filter) => {
      reads += 1;
      return read(filter);
    };
    await sweepOnce(one.services, one.resting, running);
    const once = reads;
    await sweepOnce(one.services, one.resting, running);
    expect({ reads, limit: one.asks.at(-1)?.limit }).toEqual({ reads: once, limit: 501 });
    one.time.now += 30_000;
    await sweepOnce(one.services, one.resting, running);
    expect({ reads, limit: one.asks.at(-1)?.limit }).toEqual({ reads: 2 * once, limit: 500 });
  });

  it('ends its pass where the log is away, and takes the same rows the next second', async () => {
    const rows = Array.from({ length: 40 }, (_, n) => ({ ...expiry, approvalId: approvalIdOf(TURN_KEY, n) }));
    const one = sweep(rows, { append: () => Promise.resolve({ is: 'full', why: 'test' }) });
    await one.tell(
      requested({
        toolCalls: rows.map((_, n) => ({
          toolCallId: `c${n}`,
          toolName: 'pay',
          args: {},
          argsDigest: `sha256:${'0'.repeat(64)}`,
        })),
      }),
    );
    await expect(sweepOnce(one.services, one.resting, running)).rejects.toThrow(Unavailable);
    expect(one.tries()).toBe(16);
    await expect(sweepOnce(one.services, one.resting, running)).rejects.toThrow(Unavailable);
    expect(one.tries()).toBe(32);
  });

  it('reports a row that cannot be swept, and goes on with the others', async () => {
    const one = sweep([{ ...expiry, approvalId: approvalIdOf(TURN_KEY, 1) }, expiry]);
    await one.tell(requested());
    const read = one.services.log.last.bind(one.services.log);
    const broken = approvalIdOf(TURN_KEY, 1);
    one.services.log.last = (filter) => (filter.includes(broken) ? Promise.reject(new Error('damaged')) : read(filter));
    await sweepOnce(one.services, one.resting, running);
    expect(one.failed).toEqual([new Error('damaged')]);
    expect(await one.story()).toHaveLength(1);
  });

  it('goes on through an outage of the read model until it is told to stop', async () => {
    const one = sweep([]);
    const stop = new AbortController();
    one.services.due.dueBy = () => {
      if (one.paused.length === 1) stop.abort();
      return Promise.reject(new Error('no Postgres'));
    };
    await runSweep(one.services, stop.signal);
    expect(one.paused).toHaveLength(2);
  });
});

describe('an outage', () => {
  it('is said once a minute', () => {
    const said: unknown[] = [];
    let now = Date.parse(NOON);
    const say = atMostOnceAMinute(
      (error) => said.push(error),
      () => now,
    );
    for (const wait of [0, 1_000, 58_999, 1, 59_999, 1]) {
      now += wait;
      say(now - Date.parse(NOON));
    }
    expect(said).toEqual([0, 60_000, 120_000]);
  });
});
