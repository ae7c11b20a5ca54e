import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { sleep, type Client } from './client.js';
import { HoldpointProblem } from './problems.js';

/** One thing that happened in a conversation; `type` is one of the contract's section 5. */
export interface ConversationMessage {
  readonly type: string;
  readonly turnId: string;
  readonly [field: string]: unknown;
}

export interface WatchOptions {
  /** The log sequence to go on after; without it only what is new comes. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

/** What happens in a conversation, without a gap: a connection that breaks is taken up where it was. Ends when aborted. */
export async function* watch(
  client: Client,
  conversationId: string,
  { after, signal }: WatchOptions,
): AsyncGenerator<ConversationMessage> {
  const place = { seen: after };
  for (let failures = 0; !signal?.aborted; failures += 1) {
    try {
      for await (const message of connected(client, conversationId, place, signal)) {
        failures = 0;
        yield message;
      }
    } catch (error) {
      if (isForGood(error)) throw error;
    }
    await sleep(Math.min(5_000, 100 * 2 ** failures), signal).catch(() => undefined);
  }
}

const isForGood = (error: unknown): boolean =>
  error instanceof HoldpointProblem && error.status < 500 && error.name !== 'rate-limited';

/** What was seen last: a fact of several messages has its place on the last of them. */
interface Place {
  seen: number | undefined;
}

async function* connected(
  client: Client,
  conversationId: string,
  place: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<ConversationMessage> {
  const from = place.seen === undefined ? '' : `?after=${place.seen}`;
  const response = await client.fetch(`/v1/conversations/${encodeURIComponent(conversationId)}/events${from}`, {
    headers: { accept: 'text/event-stream' },
    ...(signal ? { signal } : {}),
  });
  if (!response.ok) throw new HoldpointProblem(response.status, (await response.json()) as Record<string, unknown>);
  for await (const { id, data } of eventsOf(response)) {
    yield JSON.parse(data) as ConversationMessage;
    if (id !== undefined) place.seen = Number(id);
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<EventSourceMessage> {
  const received: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void received.push(event) });
  const decoder = new TextDecoder();
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    parser.feed(decoder.decode(read.value, { stream: true }));
    yield* received.splice(0);
  }
}
