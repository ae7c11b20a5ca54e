import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Tenant } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import { TENANT, worker } from '../continuations/stories-for-spec.js';
import { ApprovalFeed, type Changed } from './approval-feed.js';
import { streamApprovals } from './approval-stream.js';

const OTHER = 'other' as Tenant;
const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));
const report = (error: unknown): never => {
  throw error;
};

/** A read model whose facts are these, which counts how often it is asked; it gives two facts at a time. */
class Source {
  readonly facts: Changed[] = [];
  private readonly listeners = new Set<() => void>();
  asked = 0;
  isAway = false;
  projectedSeq = () => this.facts.at(-1)?.seq ?? 0;
  onProjected = (listener: (seq: number) => void) => {
    const tell = () => listener(this.projectedSeq());
    this.listeners.add(tell);
    return () => void this.listeners.delete(tell);
  };
  changedSince = async (after: number, tenant?: Tenant) => {
    this.asked += 1;
    await sleep(1);
    if (this.isAway) throw new Error('away');
    const seen = this.facts.filter(({ seq }) => seq > after && seq <= after + 2);
    const changed = seen.filter((one) => tenant === undefined || one.tenant === tenant);
    return { changed, upTo: Math.min(after + 2, Math.max(after, this.projectedSeq())) };
  };
  stats = (tenant: Tenant) => Promise.resolve({ tenant });
  add(seq: number, tenant = TENANT): void {
    this.facts.push({ tenant, seq, approval: { approvalId: `ap-${seq}`, args: { secret: 1 } } });
    for (const tell of this.listeners) tell();
  }
}

async function gateway(source: Source, caller: Caller = worker({ roles: ['approver'] })) {
  const stop = new AbortController();
  const feed = new ApprovalFeed(source, source.isAway ? () => undefined : report);
  feed.start(stop.signal);
  const server = createServer((request, response) => {
    const after = new URL(request.url ?? '', 'http://localhost').searchParams.get('after');
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const common = { caller, takeOver: () => response, signal: gone.signal, isStillGood: () => Promise.resolve(true) };
    void streamApprovals({ feed, report }, after === null ? common : { ...common, after: Number(after) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    stop.abort();
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function listen(url: string) {
  const answer = await fetch(url);
  const heard = { text: '' };
  const decoder = new TextDecoder();
  const read = async () => {
    for await (const chunk of answer.body ?? []) heard.text += decoder.decode(chunk as Uint8Array, { stream: true });
  };
  void read().catch(() => undefined);
  return heard;
}

const approvalsIn = ({ text }: { text: string }) =>
  [...text.matchAll(/"approvalId":"ap-(\d+)"/g)].map(([, seq]) => Number(seq));

async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 5_000; !condition(); await sleep(5))
    if (Date.now() > end) throw new Error('Not in 5 s');
}

describe('the approval stream', () => {
  it('from a place tells every change once and in order, however the past meets the present', async () => {
    const source = new Source();
    for (const seq of [1, 2, 3, 4, 5]) source.add(seq);
    const heard = await listen(`${await gateway(source)}?after=1`);
    for (const seq of [6, 7, 8, 9]) {
      source.add(seq);
      await sleep(3);
    }
    await until(() => approvalsIn(heard).includes(9));
    expect(approvalsIn(heard)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('asks once for everybody, and tells each tenant its own', async () => {
    const source = new Source();
    source.add(1);
    const url = await gateway(source);
    const all = await Promise.all(Array.from({ length: 50 }, () => listen(url)));
    source.add(2);
    source.add(3, OTHER);
    await until(() => all.every((heard) => approvalsIn(heard).length > 0));
    expect(all.map(approvalsIn)).toEqual(all.map(() => [2]));
    expect(source.asked).toBeLessThan(4);
  });

  it('tells how many there are, at most once a second', async () => {
    const source = new Source();
    source.add(1);
    const heard = await listen(await gateway(source));
    for (let seq = 2; seq < 10; seq += 1) source.add(seq);
    await until(() => heard.text.includes('"stats"'));
    expect(heard.text.match(/"type":"stats"/g)).toHaveLength(1);
  });

  it('shows operators no arguments', async () => {
    const source = new Source();
    source.add(1);
    const heard = await listen(`${await gateway(source, worker({ roles: ['operator'] }))}?after=0`);
    await until(() => approvalsIn(heard).length > 0);
    expect(heard.text).not.toContain('secret');
  });

  it('asks nobody while nobody watches', async () => {
    const source = new Source();
    await gateway(source);
    source.add(1);
    await sleep(20);
    expect(source.asked).toBe(0);
  });
});
