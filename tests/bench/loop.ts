import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { World } from '../support/world.js';
import { httpClient, type Answer, type Post } from './http-client.js';
import { latency, median, rounded } from './figures.js';
import { startFloor, type Floor } from './loop-floor.js';
import type { BenchOptions } from './options.js';

/** What one loop appends: ToolApprovalRequested, ToolApprovalDecided, ContinueConversation, TurnResumed. */
const APPENDS_A_LOOP = 4;
/** From the decision to the continuation: ToolApprovalDecided, ContinueConversation. */
const APPENDS_TO_CONTINUE = 2;
const BUSY = 64;
const QUIET_AFTER_MS = 12_000;

/** A turn that is taken is not offered again while this runs. */
const LONG_LEASES = { HOLDPOINT_LEASE_SECONDS: '900' };

export interface Clients {
  readonly agent: Post;
  readonly approver: Post;
  /** All that these clients have open. */
  connections(): number;
}
export interface Sample {
  readonly wholeMs: number;
  readonly continuedMs: number;
}

/** `continued`: from the decision to the continuation; `whole`: from the opening to the lease. */
export type LoopLatency = Readonly<Record<'loops' | 'continuedP50Ms' | 'continuedP99Ms' | 'wholeP50Ms', number>>;

/** Turn opened, decided, continuation taken; with many clients and with one, each against raw guarded appends. */
export async function* loop({ seconds = 15, rounds = 3, concurrency = BUSY }: BenchOptions): AsyncGenerator<object> {
  const [world, floor] = [await World.start({ env: LONG_LEASES }), await startFloor()];
  try {
    const clients = await clientsOf(world, concurrency);
    const sides = { product: async () => (await oneLoop(clients)).sample, floor: () => floorLoop(floor) };
    // What is compiled while it runs is compiled when it is measured.
    await closedLoop(concurrency, seconds, sides.product);
    await closedLoop(concurrency, seconds / 5, sides.floor);
    const busy: Compared = { clients: concurrency, seconds, rounds, figures: throughput };
    const throughputs = yield* compare(sides, busy);
    // Alone means alone: turns of the busy rounds are offered once more ten seconds after they were taken.
    await sleep(QUIET_AFTER_MS);
    const alone = yield* compare(sides, { clients: 1, seconds, rounds, figures: latencyOf });
    const ratio = rounded(throughputs('perSecond'));
    const latencyRatio = rounded(alone('continuedP50Ms'));
    const met = ratio >= 0.5 && latencyRatio <= 2.5;
    yield { ratio, target: 'at least 0.5', latencyRatio, latencyTarget: 'at most 2.5', met };
  } finally {
    await Promise.all([world.stop(), floor.stop()]);
  }
}

interface Compared {
  readonly clients: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly figures: (samples: readonly Sample[], seconds: number) => Figures;
}
type Figures = Readonly<Record<string, number>>;

/** The product and its floor in turn. Gives what tells the median ratio of a figure. */
async function* compare(
  sides: { readonly product: () => Promise<Sample>; readonly floor: () => Promise<Sample> },
  { clients, seconds, rounds, figures }: Compared,
): AsyncGenerator<object, (figure: string) => number> {
  const all: { readonly product: Figures; readonly floor: Figures }[] = [];
  for (let round = 1; round <= rounds; round++) {
    const product = figures(await closedLoop(clients, seconds, sides.product), seconds);
    const floor = figures(await closedLoop(clients, seconds, sides.floor), seconds);
    yield { part: 'round', round, concurrency: clients, product, floor };
    all.push({ product, floor });
  }
  return (figure) => median(all.map(({ product, floor }) => (product[figure] ?? NaN) / (floor[figure] ?? NaN)));
}

export async function clientsOf(world: World, concurrency: number): Promise<Clients> {
  const [agent, approver] = [await world.agent(), await world.approver()];
  const asking = httpClient(world.url, agent.token, 2 * concurrency);
  const deciding = httpClient(world.url, approver.token, concurrency);
  return {
    agent: asking.post,
    approver: deciding.post,
    connections: () => asking.connections() + deciding.connections(),
  };
}

/** The worker waits before the decision comes; at concurrency 64 it may be given another's continuation, and takes that. */
export async function oneLoop({ agent, approver }: Clients): Promise<Looped> {
  const startedAt = performance.now();
  const workerId = `w-${randomUUID()}`;
  const opened = expected(201, await agent('/v1/turns', turnOf()));
  const approvalId = String(opened['approvals'][0].approvalId);
  const pulled = agent('/v1/pools/default/continuations/pull', { workerId, max: 1, waitSeconds: 55 });
  const decidedAt = performance.now();
  const decided = approver(`/v1/approvals/${approvalId}/decision`, { decision: 'approve' });
  const [item] = expected(200, await pulled)['items'] as Offered[];
  if (!item) throw new Error('A pull of 55 s brought nothing');
  const continuedMs = performance.now() - decidedAt;
  expected(200, await decided);
  const { attempt } = expected(200, await agent(`/v1/continuations/${item.leaseId}/resume`, { workerId }));
  const { turnId, conversationId } = item;
  const end = { conversationId, attempt, status: 'completed' };
  return {
    sample: { continuedMs, wholeMs: performance.now() - startedAt },
    end: async () => void expected(200, await agent(`/v1/turns/${turnId}/end`, end)),
  };
}

interface Offered {
  readonly leaseId: string;
  readonly turnId: string;
  readonly conversationId: string;
}
interface Looped {
  readonly sample: Sample;
  /** Ends the turn that was taken. */
  readonly end: () => Promise<void>;
}

export const turnOf = (): object => ({
  conversationId: `conv-${randomUUID()}`,
  turnId: 't-1',
  agent: { id: 'billing-agent' },
  toolCalls: [
    {
      toolCallId: 'call_1',
      toolName: 'send_email',
      server: 'gmail',
      args: { to: 'x@example.com', subject: 'The invoice', body: 'Please find the invoice of November attached.' },
    },
  ],
});

export function expected(status: number, answer: Answer): Record<string, any> {
  if (answer.status !== status) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export async function floorLoop(floor: Floor): Promise<Sample> {
  const startedAt = performance.now();
  let decidedAt = startedAt;
  for (let n = 0; n < APPENDS_A_LOOP; n++) {
    if (n === APPENDS_A_LOOP - APPENDS_TO_CONTINUE) decidedAt = performance.now();
    await floor.append();
  }
  const endedAt = performance.now();
  return { wholeMs: endedAt - startedAt, continuedMs: endedAt - decidedAt };
}

/** So many clients, each beginning its next when its last is done. */
export async function closedLoop(clients: number, seconds: number, one: () => Promise<Sample>): Promise<Sample[]> {
  const until = performance.now() + seconds * 1_000;
  const samples: Sample[] = [];
  const client = async (): Promise<void> => {
    while (performance.now() < until) samples.push(await one());
  };
  await Promise.all(Array.from({ length: clients }, client));
  return samples;
}

const throughput = (samples: readonly Sample[], seconds: number) => {
  const { p50Ms, p99Ms } = latency(samples.map(({ wholeMs }) => wholeMs));
  return { perSecond: rounded(samples.length / seconds), wholeP50Ms: p50Ms, wholeP99Ms: p99Ms };
};

export function latencyOf(samples: readonly Sample[]): LoopLatency {
  const continued = latency(samples.map(({ continuedMs }) => continuedMs));
  const whole = latency(samples.map(({ wholeMs }) => wholeMs));
  return {
    loops: continued.samples,
    continuedP50Ms: continued.p50Ms,
    continuedP99Ms: continued.p99Ms,
    wholeP50Ms: whole.p50Ms,
  };
}
