import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import type { HoldpointEvent } from '#contracts/events';
import type { Caller } from '#contracts/roles';
import { MemoryLog } from '#event-log/memory-log';
import {
  decided,
  ended,
  factOf,
  logOf,
  requested,
  resumed,
  started,
  succeeded,
  worker,
} from '../continuations/stories-for-spec.js';
import { CatchUps } from './catch-ups.js';
import { Changes } from './changes.js';
import { streamConversation } from './conversation-stream.js';
import { resumeAfter } from './sse.js';
import { ToldTurns } from './told-turns.js';

const STORY = [
  requested({ calls: 2 }),
  decided(0),
  decided(1),
  resumed(),
  started(0),
  succeeded(0),
  started(1),
  succeeded(1),
  ended(),
];
const OTHER = 'conv-2';

interface Heard {
  readonly id: string | undefined;
  readonly type: string;
}

const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

/** A gateway's live part over a log in memory, behind a real HTTP server. */
async function gateway(log: MemoryLog, caller: Caller = worker(), isStillGood = () => Promise.resolve(true)) {
  const stop = new AbortController();
  const changes = new Changes(log, report);
  const running = changes.run(stop.signal);
  while (changes.position === undefined) await sleep(1);
  const streams = { log, changes, turns: new ToldTurns(log), catchUps: new CatchUps(), report };
  const handle = (url: string, response: ServerResponse) => {
    const after = new URL(url, 'http://localhost').searchParams.get('after');
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const from = after === null ? {} : { after: Number(after) };
    return streamConversation(streams, {
      caller,
      conversationId: 'conv-1',
      ...from,
      takeOver: () => response,
      signal: gone.signal,
      isStillGood,
    });
  };
  const server = createServer((request, response) => void handle(request.url ?? '', response).catch(report));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    stop.abort();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, changes, running };
}

const report = (error: unknown): never => {
  throw error;
};

async function listen(url: string) {
  const stop = new AbortController();
  stops.push(() => stop.abort());
  const heard: Heard[] = [];
  const parser = createParser({
    onEvent: ({ id, data }) => heard.push({ id, type: (JSON.parse(data) as Heard).type }),
  });
  const answer = await fetch(url, { signal: stop.signal });
  const decoder = new TextDecoder();
  const read = async () => {
    for await (const chunk of answer.body ?? []) parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
  };
  void read().catch(() => undefined);
  return { heard, answer, close: () => stop.abort() };
}

/** A log whose news come late: as a subscription on a slow line. */
class LateLog extends MemoryLog {
  catchUp: () => void = () => undefined;
  private readonly late = new Promise<void>((resolve) => (this.catchUp = resolve));

  override async *follow(after: number, signal: AbortSignal) {
    await this.late;
    yield* super.follow(after, signal);
  }
}

const append = async (log: MemoryLog, events: readonly HoldpointEvent[], correlationId = 'conv-1') => {
  for (const event of events) await log.append({ ...factOf(event), correlationId });
};

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('It did not become so in 5 s');
    await sleep(2);
  }
}

/** Facts that speak, by the ids that stand on their last messages. */
const idsOf = (heard: readonly Heard[]): number[] => heard.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
const numbersAfter = (after: number, last: number) =>
  Array.from({ length: last - after }, (_, index) => after + index + 1);

describe('a conversation stream', () => {
  it('from any place, connected at any moment, tells every later fact once and in order', () =>
    fc.assert(
      fc.asyncProperty(fc.nat(STORY.length), fc.nat(STORY.length), async (before, place) => {
        const { events: log } = await logOf(...STORY.slice(0, before));
        const { url } = await gateway(log);
        const after = Math.min(before, place);
        const [{ heard }] = await Promise.all([listen(`${url}?after=${after}`), append(log, STORY.slice(before))]);
        await until(() => after === STORY.length || heard.at(-1)?.type === 'complete');
        expect(idsOf(heard)).toEqual(numbersAfter(after, STORY.length));
        stops.splice(0).forEach((stop) => stop());
      }),
      { numRuns: 30 },
    ));

  it('without a place tells what is new only', async () => {
    const { events: log } = await logOf(...STORY.slice(0, 3));
    const { heard } = await listen((await gateway(log)).url);
    await append(log, STORY.slice(3));
    await until(() => heard.at(-1)?.type === 'complete');
    expect(idsOf(heard)).toEqual(numbersAfter(3, STORY.length));
  });

  it('from a place beyond the end tells what is new', async () => {
    const { events: log } = await logOf(...STORY.slice(0, 3));
    const { heard } = await listen(`${(await gateway(log)).url}?after=1000`);
    await append(log, STORY.slice(3, 5));
    await until(() => heard.length > 1);
    expect(idsOf(heard)).toEqual([4, 5]);
  });

  it('from a place that this gateway has not come to yet tells nothing twice', async () => {
    const log = new LateLog();
    await append(log, STORY.slice(0, 2));
    const { url } = await gateway(log);
    await append(log, STORY.slice(2, 5));
    const { heard } = await listen(`${url}?after=4`);
    log.catchUp();
    await until(() => heard.length > 0);
    expect(idsOf(heard)).toEqual([5]);
  });

  it('tells a hundred who listen the same', async () => {
    const { events: log } = await logOf(requested({ calls: 2 }));
    const { url } = await gateway(log);
    const all = await Promise.all(Array.from({ length: 100 }, () => listen(url)));
    await append(log, STORY.slice(1));
    await until(() => all.every(({ heard }) => heard.at(-1)?.type === 'complete'));
    for (const { heard } of all) expect(idsOf(heard)).toEqual(numbersAfter(1, STORY.length));
  });

  it('says nothing of other conversations, nor of other agents', async () => {
    const { events: log } = await logOf(...STORY.slice(0, 2));
    const { heard } = await listen(`${(await gateway(log)).url}?after=0`);
    const stranger = await listen(`${(await gateway(log, worker({ agent: 'other' }))).url}?after=0`);
    await append(log, [decided(1)], OTHER);
    await append(log, [resumed()]);
    await until(() => idsOf(heard).includes(4));
    expect([idsOf(heard), stranger.heard]).toEqual([[1, 2, 4], []]);
  });

  it('is told as events, unbuffered, with a place to go on from at once', async () => {
    const { events: log } = await logOf(...STORY.slice(0, 2));
    const answer = await fetch((await gateway(log)).url);
    const first = (await answer.body?.getReader().read()) as { value?: Uint8Array } | undefined;
    expect(new TextDecoder().decode(first?.value)).toBe(': open\nretry: 1000\nid: 2\n\n');
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(answer.headers.get('x-accel-buffering')).toBe('no');
  });
});

describe('what wakes a waiting request', () => {
  it('is the next fact of its turn, or its own end', async () => {
    const { events: log } = await logOf(requested());
    const { changes } = await gateway(log);
    const stop = new AbortController();
    const { turnKey } = (STORY[0]?.data ?? {}) as { turnKey: never };
    const woken = changes.untilChanged(turnKey, stop.signal);
    await append(log, [decided(0)]);
    await woken;
    const ended = changes.untilChanged(turnKey, stop.signal);
    stop.abort();
    await ended;
  });
});

describe('where to go on', () => {
  it('says the header before the query', () =>
    expect([resumeAfter('7', 3), resumeAfter('', 3), resumeAfter(undefined)]).toEqual([7, 3, undefined]));
  it.each(['x', '-1', '1.5', '99999999999999999', '1 '])('refuses %s', (id) =>
    expect(() => resumeAfter(id)).toThrow('Last-Event-ID'),
  );
});
