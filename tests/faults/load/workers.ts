import { setTimeout as sleep } from 'node:timers/promises';
import { digest } from '../canonical.js';
import type { Ledger } from '../ledger.js';
import type { Random } from '../random.js';
import { LEASE_SECONDS, STANDSTILL_MS } from '../timing.js';
import type { Board } from './board.js';
import type { Answer, Client } from './client.js';
import { intrude, reportAsAnother, tryUnapproved } from './intruders.js';

/** A worker that takes continuations and runs tools, well or badly. */
export interface Worker {
  readonly client: Client;
  readonly workerId: string;
  readonly board: Board;
  readonly ledger: Ledger;
  readonly random: Random;
  /** From then on everybody works as well as they can. */
  readonly draining: () => boolean;
  /** Which manners come oftener than by themselves. */
  readonly manners: Partial<Manners>;
}

export interface Taken {
  readonly leaseId: string;
  readonly kind: 'turn' | 'call';
  readonly conversationId: string;
  readonly turnId: string;
  readonly attempt: number;
  readonly results: readonly Record<string, any>[];
  readonly free: readonly string[];
}

const MANNERS = {
  good: 60,
  slow: 6,
  'dies-before-use': 4,
  'dies-after-use': 5,
  'dies-after-run': 6,
  'dies-before-end': 3,
  'gives-back': 4,
  'late-outcome': 3,
  'other-arguments': 4,
  'two-takers': 5,
  'is-intruded': 5,
};
type Manner = keyof typeof MANNERS;
export type Manners = Readonly<Record<Manner, number>>;

/** Longer than the lease, so that an attempt that does nothing is over. */
const LEASE_OVER_MS = (LEASE_SECONDS + 1) * 1_000;
/** Within the checker's tolerance what comes late may still be right. */
const PAST_EXCUSE_MS = STANDSTILL_MS + 300;
const SLOW_MS = 5_500;

export async function pullOnce(worker: Worker, pool: string): Promise<void> {
  const { client, workerId, random } = worker;
  const body = { workerId, max: random.between(1, 3), waitSeconds: 2 };
  const path = `/v1/pools/${pool}/continuations/pull`;
  const pulled = await client.ask({ op: 'pull', path, body, timeoutMs: 6_000, once: true });
  if (!pulled) return void (await sleep(200));
  await Promise.all((pulled.body['items'] as Record<string, any>[]).map((item) => takeOffered(worker, item)));
}

async function takeOffered(worker: Worker, item: Record<string, any>): Promise<void> {
  const { client, board } = worker;
  const path = `/v1/continuations/${item['leaseId']}/resume`;
  const manner = drawManner(worker);
  const resume = (workerId: string) => client.insist({ op: 'resume', path, body: { workerId } });
  // The other one that takes it is a worker as well, and gets nothing to do where this one was first.
  const [answer] = await Promise.all([
    resume(worker.workerId),
    ...(manner === 'two-takers'
      ? [resume(`${worker.workerId}-b`).then((b) => workIfTaken(worker, item, b, '-b'))]
      : []),
  ]);
  await workIfTaken(worker, item, answer, '', manner);
  if (answer?.status === 409 && String(answer.body['type']).endsWith(':turn-ended'))
    board.ended(String(item['turnId']));
}

const drawManner = ({ random, draining, manners }: Worker): Manner =>
  draining() ? 'good' : random.weighed({ ...MANNERS, ...manners });

async function workIfTaken(
  worker: Worker,
  item: Record<string, any>,
  answer: Answer | undefined,
  ...[suffix, manner = 'good']: [string, Manner?]
): Promise<void> {
  if (answer?.status !== 200) return;
  const attempt = Number(answer.body['attempt']);
  worker.board.taken(String(item['leaseId']), attempt);
  const executions = answer.body['executions'] as Record<string, any>[];
  const free = executions.filter(({ state }) => state === 'free').map(({ approvalId }) => String(approvalId));
  const taken = { ...item, attempt, free } as unknown as Taken;
  await work({ ...worker, workerId: worker.workerId + suffix }, taken, manner);
}

/** What a worker does with what it took. */
export async function work(worker: Worker, taken: Taken, manner: Manner = 'good'): Promise<void> {
  const { random, draining } = worker;
  if (manner === 'dies-before-use') return comeBackLater(worker, taken);
  if (manner === 'gives-back') return giveBack(worker, taken);
  // A second attempt takes its time, so that the first one may come back while it is at work.
  if (manner === 'slow' || (taken.attempt > 1 && !draining() && random.chance(0.5))) await beSlow(worker, taken);
  if (random.chance(0.5)) await tryUnapproved(worker, taken);
  for (const approvalId of taken.free) {
    const result = taken.results.find((one) => one['approvalId'] === approvalId);
    if (result && manner === 'is-intruded') await intrude(worker, taken, result);
    if (result && !(await runTool(worker, taken, result, manner))) return comeBackLater(worker, taken);
  }
  if (manner === 'dies-before-end') return comeBackLater(worker, taken);
  await finish(worker, taken);
}

async function beSlow({ client, workerId }: Worker, { leaseId, attempt }: Taken): Promise<void> {
  for (let at = 0; at < SLOW_MS; at += SLOW_MS / 3) {
    await sleep(SLOW_MS / 3);
    const path = `/v1/continuations/${leaseId}/extend`;
    await client.insist({ op: 'extend', path, body: { workerId, attempt } });
  }
}

/** False where the worker ends in the middle of it. */
async function runTool(
  worker: Worker,
  { attempt }: Taken,
  { approvalId, args }: Record<string, any>,
  manner: Manner,
): Promise<boolean> {
  const { client, workerId, ledger, random } = worker;
  const use = async (these: unknown) => {
    const argsDigest = digest(these);
    const path = `/v1/approvals/${approvalId}/use`;
    const used = await client.insist({ op: 'use', path, body: { workerId, attempt, argsDigest } });
    if (used?.status !== 200) return false;
    if (manner === 'dies-after-use') return true;
    ledger.write({ is: 'ran', at: Date.now(), approvalId, attempt, workerId, argsDigest });
    return true;
  };
  // Whoever is let run other arguments runs them: the checker sees it.
  const used = (manner === 'other-arguments' && (await use({ ...args, amount: 1_000_000 }))) || (await use(args));
  if (!used) return true;
  if (manner === 'dies-after-use' || manner === 'dies-after-run') return false;
  if (manner === 'late-outcome') await sleep(LEASE_OVER_MS);
  if (manner === 'is-intruded') await reportAsAnother(worker, attempt, approvalId);
  const ok = random.chance(0.8);
  const said = ok ? { ok, result: { sent: true, approvalId } } : { ok, error: { message: 'the tool failed' } };
  const path = `/v1/approvals/${approvalId}/outcome`;
  await client.insist({ op: 'outcome', path, body: { workerId, attempt, ...said, durationMs: 3 } });
  return true;
}

async function finish(worker: Worker, taken: Taken): Promise<void> {
  const { client, workerId, board, random } = worker;
  const { leaseId, attempt, conversationId, turnId } = taken;
  if (taken.kind === 'call') {
    await client.ask({ op: 'done', path: `/v1/continuations/${leaseId}/done`, body: { workerId, attempt } });
    return;
  }
  const body = { conversationId, attempt, status: random.chance(0.9) ? 'completed' : 'failed' };
  const ended = await client.insist({ op: 'end', path: `/v1/turns/${turnId}/end`, body });
  if (ended?.status === 200 || String(ended?.body['type']).endsWith(':turn-ended')) board.ended(turnId);
}

async function giveBack({ client, workerId }: Worker, { leaseId, attempt, free }: Taken): Promise<void> {
  const body = { workerId, attempt };
  const given = await client.insist({ op: 'give-back', path: `/v1/continuations/${leaseId}/give-back`, body });
  const [approvalId] = free;
  if (given?.status !== 200 || !approvalId) return;
  // What was given back is not its own any more.
  await client.insist({ op: 'extend', path: `/v1/continuations/${leaseId}/extend`, body });
}

/** It was only thought dead: it comes back when another has its work, with its old attempt, and must achieve nothing. */
async function comeBackLater(worker: Worker, taken: Taken): Promise<void> {
  const { board, random, draining } = worker;
  if (!random.chance(0.6)) return;
  const { leaseId, turnId, attempt } = taken;
  for (let waited = 0; waited < 12_000 && board.lastAttempt(leaseId) <= attempt; waited += 250) {
    if (draining() || !board.isOpen(turnId)) return;
    await sleep(250);
  }
  if (board.lastAttempt(leaseId) <= attempt) return;
  await sleep(PAST_EXCUSE_MS);
  if (!draining()) await actStale(worker, taken);
}

async function actStale(worker: Worker, taken: Taken): Promise<void> {
  const { client, workerId, random } = worker;
  const { leaseId, turnId, conversationId, attempt, kind } = taken;
  await client.insist({ op: 'extend', path: `/v1/continuations/${leaseId}/extend`, body: { workerId, attempt } });
  for (const approvalId of taken.free) {
    const result = taken.results.find((one) => one['approvalId'] === approvalId);
    if (result && random.chance(0.7)) await runTool(worker, taken, result, 'good');
  }
  if (kind === 'turn')
    await client.insist({
      op: 'end',
      path: `/v1/turns/${turnId}/end`,
      body: { conversationId, attempt, status: 'failed' },
    });
}
