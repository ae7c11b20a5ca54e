import { createParser } from 'eventsource-parser';
import type { Api } from './api.js';

export interface SseMessage {
  readonly id: string | undefined;
  readonly data: Record<string, any>;
}

export interface Listening {
  /** Resolves when the server has answered with its headers. */
  readonly opened: Promise<void>;
  readonly messages: SseMessage[];
  /** Everything up to and including the first message of a type. */
  until(type: string, timeoutMs?: number): Promise<SseMessage[]>;
  close(): void;
}

export function listen(api: Api, path: string, headers: Record<string, string> = {}): Listening {
  const stop = new AbortController();
  const messages: SseMessage[] = [];
  const answer = fetch(api.url + path, {
    headers: { authorization: `Bearer ${api.token}`, ...headers },
    signal: stop.signal,
  });
  const opened = answer.then(({ status }) => {
    if (status !== 200) throw new Error(`The stream ${path} answered ${status}`);
  });
  void answer.then((response) => readInto(messages, response)).catch(() => undefined);
  return {
    opened,
    messages,
    until: (type, timeoutMs = 60_000) => waitFor(messages, type, timeoutMs).finally(() => stop.abort()),
    close: () => stop.abort(),
  };
}

async function readInto(messages: SseMessage[], response: Response): Promise<void> {
  const parser = createParser({
    onEvent: ({ id, data }) => messages.push({ id, data: JSON.parse(data) as Record<string, unknown> }),
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
}

async function waitFor(messages: SseMessage[], type: string, timeoutMs: number): Promise<SseMessage[]> {
  const until = Date.now() + timeoutMs;
  while (Date.now() < until) {
    const end = messages.findIndex(({ data }) => data['type'] === type);
    if (end >= 0) return messages.slice(0, end + 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`No ${type} in ${timeoutMs} ms, only ${messages.map(({ data }) => data['type']).join(', ')}`);
}
