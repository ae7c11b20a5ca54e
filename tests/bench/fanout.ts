import { setTimeout as sleep } from 'node:timers/promises';
import { World } from '../support/world.js';
import { atRate } from './at-rate.js';
import { openStreams, startWorkers, type Crowd } from './fanout-clients.js';
import { below, latency, percentile, rounded } from './figures.js';
import { httpClient, type Post } from './http-client.js';
import type { BenchOptions } from './options.js';

const TARGET = 2;
const QUIET_WORKERS = 10;
const OPEN_AT_ONCE = 16;

interface Clients {
  readonly url: string;
  readonly agent: { readonly token: string; readonly post: Post };
  readonly approver: Post;
}

interface Load {
  readonly streams: number;
  readonly workers: number;
  readonly perSecond: number;
  readonly seconds: number;
}

/** From the decision's sending: until it is answered, until its conversation's stream tells it, until a worker is given it. */
interface Samples {
  readonly answered: number[];
  readonly told: number[];
  readonly continued: number[];
}
const none = (): Samples => ({ answered: [], told: [], continued: [] });

/** Decisions at a steady rate while a crowd listens and waits, against the same rate with ten workers and nobody listening. */
export async function* fanout(options: BenchOptions): AsyncGenerator<object> {
  const { streams = 500, workers = 1_000, seconds = 8, rounds = 3, 'per-second': perSecond = 50 } = options;
  const world = await World.start({ servers: { fastDatabase: false } });
  try {
    const clients = await clientsOf(world);
    const quietLoad = { streams: 0, workers: QUIET_WORKERS, perSecond, seconds };
    const busyLoad = { streams, workers, perSecond, seconds };
    await measure(clients, { ...quietLoad, seconds: 1 }, none());
    const [quiet, busy] = [none(), none()];
    for (let round = 1; round <= rounds; round++) {
      await measure(clients, quietLoad, quiet);
      await measure(clients, busyLoad, busy);
      yield { part: 'round', round, product: figures(busy), floor: figures(quiet) };
    }
    yield* ratios(busy, quiet, { ...busyLoad });
  } finally {
    await world.stop();
  }
}

async function clientsOf(world: World): Promise<Clients> {
  const [agent, approver] = [await world.agent('fanout-agent'), await world.approver()];
  return {
    url: world.url,
    agent: { token: agent.token, post: httpClient(world.url, agent.token, 2_000).post },
    approver: httpClient(world.url, approver.token, 200).post,
  };
}

async function measure(clients: Clients, load: Load, samples: Samples): Promise<void> {
  const { perSecond, seconds, streams, workers } = load;
  const sentAt = new Map<string, number>();
  const note = (into: number[]) => {
    const heard = new Set<string>();
    return (approvalId: string) => {
      const at = sentAt.get(approvalId);
      if (at !== undefined && !heard.has(approvalId)) into.push(performance.now() - at);
      heard.add(approvalId);
    };
  };
  const conversations = Array.from({ length: Math.max(1, streams) }, (_, index) => `conversation-${index}`);
  const approvals = await openTurns(clients.agent.post, conversations, perSecond * seconds);
  const crowds: Crowd[] = [startWorkers(clients.agent.post, workers, note(samples.continued))];
  if (streams > 0) crowds.push(await openStreams(clients.url, clients.agent.token, conversations, note(samples.told)));
  await sleep(1_000);
  samples.answered.push(...(await decideAll(clients.approver, approvals, { sentAt, perSecond })));
  await sleep(1_000);
  for (const crowd of crowds) await crowd.close();
}

async function openTurns(post: Post, conversations: readonly string[], count: number): Promise<string[]> {
  const approvals: string[] = [];
  let next = 0;
  const open = async (): Promise<void> => {
    while (next < count) {
      const conversationId = conversations[next++ % conversations.length];
      const { status, body } = await post('/v1/turns', { ...TURN, conversationId });
      if (status !== 201) throw new Error(`A turn was answered ${status}: ${JSON.stringify(body)}`);
      approvals.push(String(body['approvals'][0].approvalId));
    }
  };
  await Promise.all(Array.from({ length: OPEN_AT_ONCE }, open));
  return approvals;
}

const TURN = {
  agent: { id: 'billing-agent' },
  toolCalls: [{ toolCallId: 'call_1', toolName: 'send_email', server: 'gmail', args: { to: 'x@example.com' } }],
};

async function decideAll(
  post: Post,
  approvals: readonly string[],
  { sentAt, perSecond }: { readonly sentAt: Map<string, number>; readonly perSecond: number },
): Promise<number[]> {
  const decide = async (approvalId: string): Promise<number> => {
    const at = performance.now();
    sentAt.set(approvalId, at);
    const { status, body } = await post(`/v1/approvals/${approvalId}/decision`, { decision: 'approve' });
    if (status !== 200) throw new Error(`A decision was answered ${status}: ${JSON.stringify(body)}`);
    return performance.now() - at;
  };
  return atRate(perSecond, approvals, decide);
}

const figures = ({ answered, told, continued }: Samples) => ({
  answered: latency(answered),
  ...(told.length > 0 ? { told: latency(told) } : {}),
  continued: latency(continued),
});

function* ratios(busy: Samples, quiet: Samples, load: Load): Generator<object> {
  const of = (share: number, what: 'answered' | 'continued') =>
    rounded(percentile(busy[what], share) / percentile(quiet[what], share));
  yield {
    ...below(percentile(busy.answered, 0.5) / percentile(quiet.answered, 0.5), TARGET),
    ...load,
    answeredP95Ratio: of(0.95, 'answered'),
    continuedP50Ratio: of(0.5, 'continued'),
    product: figures(busy),
    floor: figures(quiet),
  };
}
