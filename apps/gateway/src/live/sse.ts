import type { ServerResponse } from 'node:http';
import { invalid } from '../http/problem.js';

export interface SseOptions<Item> {
  readonly response: ServerResponse;
  /** Aborted when the client has gone, or the service stops. */
  readonly signal: AbortSignal;
  /** Everything up to here has been told: where a client goes on that is cut off. */
  readonly position: () => number;
  /** What an item is on the wire; nothing where it says nothing to this client. */
  readonly render: (item: Item) => Promise<string>;
  /** The token is still good and not revoked: asked at every heartbeat, for a stream outlives many tokens. */
  readonly isStillGood: () => Promise<boolean>;
  readonly report: (error: unknown, what: string) => void;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
  connection: 'keep-alive',
};
const RETRY_MS = 1_000;
const HEARTBEAT_MS = 15_000;
const QUEUE_MAX = 256;
const UNREAD_MS = 30_000;

/** One client's stream. A client that does not read is cut off, not waited for: it goes on from its last id. */
export class Sse<Item> {
  private readonly queue: Item[] = [];
  private readonly closing = new AbortController();
  private readonly heartbeat: NodeJS.Timeout;
  private isBusy = false;

  constructor(private readonly options: SseOptions<Item>) {
    const { response, signal, position } = options;
    response.writeHead(200, HEADERS);
    response.write(`: open\nretry: ${RETRY_MS}\nid: ${position()}\n\n`);
    response.once('close', this.end);
    signal.addEventListener('abort', this.end, { once: true });
    this.heartbeat = setInterval(() => void this.beat(), HEARTBEAT_MS);
    if (signal.aborted) this.end();
  }

  /** Aborted once nothing is sent any more. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** In order, as fast as the client reads; one who falls too far behind is cut off. */
  push(item: Item): void {
    if (this.closed.aborted) return;
    if (this.queue.length >= QUEUE_MAX) return this.cut();
    this.queue.push(item);
    if (!this.isBusy) void this.work();
  }

  /** Returns when the client has room for more: for those who can wait with the next. */
  async send(item: Item): Promise<void> {
    const text = await this.options.render(item);
    if (text !== '' && !this.closed.aborted) await this.write(text);
  }

  readonly end = (): void => {
    if (this.closed.aborted) return;
    clearInterval(this.heartbeat);
    this.options.signal.removeEventListener('abort', this.end);
    this.queue.length = 0;
    this.closing.abort();
    this.options.response.end();
  };

  /** Without waiting for what is still unread. */
  cut(): void {
    this.end();
    this.options.response.destroy();
  }

  private async work(): Promise<void> {
    this.isBusy = true;
    try {
      for (let next = this.queue.shift(); next !== undefined; next = this.queue.shift()) await this.send(next);
    } catch (error) {
      this.options.report(error, 'stream');
      this.cut();
    } finally {
      this.isBusy = false;
    }
  }

  private async write(text: string): Promise<void> {
    if (this.options.response.write(text)) return;
    await new Promise<void>((resolve) => {
      const { response } = this.options;
      const unread = setTimeout(() => this.cut(), UNREAD_MS);
      const go = () => {
        clearTimeout(unread);
        response.off('drain', go);
        this.closed.removeEventListener('abort', go);
        resolve();
      };
      response.on('drain', go);
      this.closed.addEventListener('abort', go, { once: true });
      if (this.closed.aborted) go();
    });
  }

  /** A comment, with the place in the log: who was told nothing for long need not read it all again. */
  private async beat(): Promise<void> {
    const { isStillGood, position, response, report } = this.options;
    const isGood = await isStillGood().catch((error: unknown) => {
      report(error, 'stream token');
      return true;
    });
    if (!isGood) this.end();
    if (this.closed.aborted || this.isBusy || response.writableNeedDrain) return;
    response.write(`: alive\nid: ${position()}\n\n`);
  }
}

/** On the last message of a fact stands the fact's place in the log. */
export const sseMessages = (messages: readonly object[], seq?: number): string =>
  messages
    .map((message, index) => {
      const id = seq !== undefined && index === messages.length - 1 ? `id: ${seq}\n` : '';
      return `${id}data: ${JSON.stringify(message)}\n\n`;
    })
    .join('');

/** `Last-Event-ID`, else `?after=`: a browser that connects again sends both, and the header is the newer. */
export function resumeAfter(lastEventId: string | readonly string[] | undefined, after?: number): number | undefined {
  if (lastEventId === undefined || lastEventId === '') return after;
  const seq = typeof lastEventId === 'string' && /^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
  if (!Number.isSafeInteger(seq)) throw invalid('Last-Event-ID', 'must be the id of a message of this stream');
  return seq;
}
