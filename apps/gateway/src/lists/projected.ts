import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';

const CHANNEL = 'holdpoint_projected';
const TRY_AGAIN_MS = 500;
const LOOK_EVERY_MS = 5_000;
const CHECKPOINT = `SELECT COALESCE((SELECT last_seq FROM projection_checkpoint WHERE name = 'read-model'), 0)::text AS seq`;

type Listener = (seq: number) => void;

/** How far the read model goes, told by Postgres at each commit over one connection that is made again for ever. */
export class Projected {
  private seq = 0;
  private readonly listeners = new Set<Listener>();
  private readonly stop = new AbortController();
  private readonly running: Promise<void>;

  constructor(private readonly config: pg.ClientConfig) {
    this.running = this.listenForEver();
  }

  current = (): number => this.seq;

  /** Whether the fact is in the read model, at the latest after so long. */
  waitFor(seq: number, maxMs: number): Promise<boolean> {
    if (this.seq >= seq) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (reached: boolean) => {
        clearTimeout(timer);
        off();
        resolve(reached);
      };
      const timer = setTimeout(() => done(this.seq >= seq), maxMs);
      const off = this.onProjected((now) => void (now >= seq && done(true)));
    });
  }

  /** Called after each commit that readers can see; gives back how to stop listening. */
  onProjected(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  private async listenForEver(): Promise<void> {
    while (!this.stop.signal.aborted) {
      // Away or not made yet: whoever reads is told so by the queries, and here it is tried again.
      await this.listenOnce().catch(() => undefined);
      await sleep(TRY_AGAIN_MS, undefined, { signal: this.stop.signal }).catch(() => undefined);
    }
  }

  /** Listens first and looks then, so that nothing falls between; looks again now and then, since a dead line is silent. */
  private async listenOnce(): Promise<void> {
    const client = new pg.Client(this.config);
    const ended = new Promise<void>((resolve) => client.on('error', () => resolve()).on('end', () => resolve()));
    client.on('notification', ({ payload }) => this.moved(Number(payload)));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      while (!this.stop.signal.aborted) {
        await this.look(client);
        await this.pause(ended);
      }
    } finally {
      // A server that is frozen answers no farewell.
      await Promise.race([client.end().catch(() => undefined), sleep(TRY_AGAIN_MS)]);
    }
  }

  private async look(client: pg.Client): Promise<void> {
    const found = await client.query<{ seq: string }>(CHECKPOINT);
    this.moved(Number(found.rows[0]?.seq ?? 0));
  }

  /** Until the next look, the end of the line, or the end of all. */
  private async pause(ended: Promise<void>): Promise<void> {
    const wake = new AbortController();
    const signal = AbortSignal.any([this.stop.signal, wake.signal]);
    await Promise.race([sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined), ended]);
    wake.abort();
  }

  /** Back as well as on: a read model that is built again begins at nothing. */
  private moved(seq: number): void {
    if (seq === this.seq) return;
    this.seq = seq;
    for (const listener of [...this.listeners]) listener(seq);
  }
}
