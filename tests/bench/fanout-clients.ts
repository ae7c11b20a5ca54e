import { Agent, get } from 'node:http';
import { createParser } from 'eventsource-parser';
import type { Post } from './http-client.js';

/** Called with the approval that a stream or a worker has just learnt the decision of. */
export type Told = (approvalId: string) => void;

export interface Crowd {
  /** Resolves when all have gone. */
  close(): Promise<void>;
}

/** One conversation's stream each; resolves when all are open. */
export async function openStreams(
  url: string,
  token: string,
  conversations: readonly string[],
  told: Told,
): Promise<Crowd> {
  const agent = new Agent({ keepAlive: false });
  const opened = await Promise.all(
    conversations.map((id) => openStream(`${url}/v1/conversations/${id}/events`, { agent, token, told })),
  );
  return {
    close: () => {
      for (const close of opened) close();
      return Promise.resolve();
    },
  };
}

interface Listening {
  readonly agent: Agent;
  readonly token: string;
  readonly told: Told;
}

function openStream(url: string, { agent, token, told }: Listening): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      if (answer.statusCode !== 200) return reject(new Error(`A stream was answered ${answer.statusCode}`));
      const parser = createParser({ onEvent: ({ data }) => tell(data, told) });
      answer.setEncoding('utf8').on('data', (chunk: string) => parser.feed(chunk));
      answer.on('error', () => undefined);
      resolve(() => request.destroy());
    });
    request.once('error', reject);
  });
}

function tell(data: string, told: Told): void {
  const message = JSON.parse(data) as { readonly type: string; readonly approvalId?: string };
  if (message.type === 'tool_approval_decided' && message.approvalId !== undefined) told(message.approvalId);
}

/** Workers that wait, take what they are offered, end its turn and wait again. */
export function startWorkers(post: Post, count: number, told: Told): Crowd {
  let isOpen = true;
  const work = async (workerId: string): Promise<void> => {
    while (isOpen) await workOnce(post, workerId, told);
  };
  const all = Promise.all(Array.from({ length: count }, (_, index) => work(`worker-${index}`)));
  return {
    close: async () => {
      isOpen = false;
      await all;
    },
  };
}

const WAIT_SECONDS = 10;

async function workOnce(post: Post, workerId: string, told: Told): Promise<void> {
  const pulled = await post('/v1/pools/default/continuations/pull', { workerId, max: 1, waitSeconds: WAIT_SECONDS });
  if (pulled.status !== 200) throw new Error(`A pull was answered ${pulled.status}: ${JSON.stringify(pulled.body)}`);
  for (const { leaseId, conversationId, turnId, results } of pulled.body['items']) {
    told(String(results[0].approvalId));
    const { status, body } = await post(`/v1/continuations/${leaseId}/resume`, { workerId });
    // Offered twice, and the other was first.
    if (status !== 200) continue;
    await post(`/v1/turns/${turnId}/end`, { conversationId, attempt: body['attempt'], status: 'completed' });
  }
}
