import { sleep, type Client } from './client.js';
import { holding, type Held } from './lease.js';
import { isProblem } from './problems.js';
import { runCall } from './run-call.js';
import type { AnyTool, CallOutcome } from './tools.js';
import { executionOf } from './turn.js';
import type { Continuation, Taken } from './wire.js';

/** A turn that is this worker's to go on with: every call has ended. */
export interface ContinuedTurn {
  readonly conversationId: string;
  readonly turnId: string;
  /** 1 the first time; more where an earlier worker began to go on and did not end it. */
  readonly attempt: number;
  readonly outcomes: readonly CallOutcome[];
  /** Aborted when another worker has taken over. */
  readonly signal: AbortSignal;
}

export interface WorkerOptions {
  /** Those that this worker can run; turns with others are left to other workers. */
  readonly tools: readonly AnyTool[];
  /**
   * Goes on with the conversation: the model is told the outcomes. The turn ends when it returns; when it throws, the turn is
   * given back and offered again, so what it does must bear to be begun again.
   */
  onContinue(turn: ContinuedTurn): Promise<'failed' | void>;
  /** What went wrong with one turn, which is offered again; and what keeps the worker from asking for more. */
  onError?(error: unknown): void;
  /** How many turns at a time; 4 where not given. */
  readonly concurrency?: number;
  readonly pool?: string;
}

export interface Worker {
  /** Takes no more, waits for what it is at, and gives back what has not ended after so long. */
  stop(graceMs?: number): Promise<void>;
}

interface Serving extends Required<Pick<WorkerOptions, 'tools' | 'pool' | 'onError' | 'onContinue'>> {
  readonly client: Client;
  readonly workerId: string;
  readonly stopped: AbortSignal;
}

const WAIT_SECONDS = 20;
const REST_MS = 1_000;
const GRACE_MS = 30_000;
/** Another has it, it is over, or it waits for a person: it is offered again when there is something to do. */
const NOT_NOW = ['taken', 'in-doubt', 'not-ready', 'turn-ended', 'not-found', 'stale-attempt'] as const;

export function startWorker(client: Client, workerId: string, options: Required<WorkerOptions>): Worker {
  const [stopping, cut] = [new AbortController(), new AbortController()];
  const serving = { ...options, client, workerId, stopped: cut.signal };
  const running = new Set<Promise<void>>();
  const loop = serve(serving, { running, most: options.concurrency, stopping: stopping.signal });
  return {
    stop: async (graceMs = GRACE_MS) => {
      stopping.abort();
      const timer = setTimeout(() => cut.abort(new Error('The worker was stopped')), graceMs);
      await loop;
      await Promise.all(running);
      clearTimeout(timer);
    },
  };
}

interface Loop {
  readonly running: Set<Promise<void>>;
  readonly most: number;
  readonly stopping: AbortSignal;
}

async function serve(serving: Serving, { running, most, stopping }: Loop): Promise<void> {
  const { client, workerId, pool, onError } = serving;
  const path = `/v1/pools/${encodeURIComponent(pool)}/continuations/pull`;
  while (!stopping.aborted) {
    if (running.size >= most) await Promise.race(running);
    const asking = { workerId, max: Math.max(1, most - running.size), waitSeconds: WAIT_SECONDS };
    const patience = { signal: stopping, withinMs: (WAIT_SECONDS + 15) * 1_000 };
    const pulled = await client
      .post<{ items: readonly Continuation[] }>(path, asking, patience)
      .catch(async (error: unknown) => {
        if (stopping.aborted) return { items: [] };
        onError(error);
        await sleep(REST_MS, stopping).catch(() => undefined);
        return { items: [] };
      });
    for (const continuation of pulled.items) {
      const work = goOn(serving, continuation).catch(onError);
      running.add(work);
      void work.finally(() => running.delete(work));
    }
  }
}

async function goOn(serving: Serving, continuation: Continuation): Promise<void> {
  const { client, workerId, tools, stopped } = serving;
  const { leaseId, results } = continuation;
  const toolOf = (name: string) => tools.find((tool) => tool.name === name);
  if (results.some(({ decision, outcome, toolName }) => decision === 'approved' && !outcome && !toolOf(toolName)))
    return;
  const taken = await take(client, leaseId, workerId, stopped);
  if (!taken) return;
  const held: Held = { leaseId, workerId, attempt: taken.attempt, leaseUntil: taken.leaseUntil };
  try {
    await holding(client, held, stopped, async (signal) => {
      const running = { client, held, conversationId: continuation.conversationId, signal };
      const outcomes: CallOutcome[] = [];
      for (const result of results) {
        signal.throwIfAborted();
        outcomes.push(
          await runCall(running, result, { tool: toolOf(result.toolName), execution: executionOf(taken, result) }),
        );
      }
      await finish(serving, continuation, { held, outcomes, signal });
    });
  } catch (error) {
    await giveBack(client, held);
    throw error;
  }
}

async function take(
  client: Client,
  leaseId: string,
  workerId: string,
  signal: AbortSignal,
): Promise<Taken | undefined> {
  try {
    return await client.post<Taken>(`/v1/continuations/${leaseId}/resume`, { workerId }, { signal });
  } catch (error) {
    if (isProblem(error, ...NOT_NOW)) return undefined;
    throw error;
  }
}

interface Ran {
  readonly held: Held;
  readonly outcomes: readonly CallOutcome[];
  readonly signal: AbortSignal;
}

/** Of one call there is nothing to go on with: its turn comes when all of its calls have ended. */
async function finish(
  { client, onContinue }: Serving,
  { kind, conversationId, turnId, leaseId }: Continuation,
  { held: { workerId, attempt }, outcomes, signal }: Ran,
): Promise<void> {
  if (kind === 'call')
    return void (await client.post(`/v1/continuations/${leaseId}/done`, { workerId, attempt }, { signal }));
  const status = (await onContinue({ conversationId, turnId, attempt, outcomes, signal })) ?? 'completed';
  await client.post(`/v1/turns/${turnId}/end`, { conversationId, attempt, status }, { signal });
}

/** So that nobody need wait for the lease to end. */
async function giveBack(client: Client, { leaseId, workerId, attempt }: Held): Promise<void> {
  await client
    .post(`/v1/continuations/${leaseId}/give-back`, { workerId, attempt }, { patienceMs: 5_000 })
    .catch((error: unknown) => {
      if (!isProblem(error)) throw error;
    });
}
