import { sleep, type Client } from './client.js';
import { holding } from './lease.js';
import { isProblem } from './problems.js';
import { outcomeOf, runCall, toldOf } from './run-call.js';
import type { AnyTool, CallOutcome } from './tools.js';
import type { CallResult, Taken, TurnOpened } from './wire.js';

export interface AskedCall {
  readonly tool: AnyTool;
  readonly args: Record<string, unknown>;
  /** As the model names it; `call_1`, `call_2`, … where it does not. */
  readonly toolCallId?: string;
}

export interface AskedTurn {
  readonly conversationId: string;
  readonly agent: { readonly id: string; readonly path?: readonly string[]; readonly onBehalfOf?: string };
  /** The same turn asked for again under the same id is the same turn; made where not given. */
  readonly turnId?: string;
  readonly calls: readonly AskedCall[];
  readonly expiresInSeconds?: number;
  /** What people see of the conversation. */
  readonly context?: object;
  /** The turn that this one takes the place of, which is cancelled. */
  readonly supersedes?: string;
  readonly signal?: AbortSignal;
}

/** A turn whose calls have all ended, in the worker that asked for them. */
export interface FinishedTurn {
  readonly conversationId: string;
  readonly turnId: string;
  /** In the order in which the calls were asked for. */
  readonly outcomes: readonly CallOutcome[];
  /** The conversation has gone on: no other worker is offered it. Until then, if this worker dies, one is. */
  readonly end: (status?: 'completed' | 'failed') => Promise<void>;
}

export interface Holder {
  readonly client: Client;
  readonly pool: string;
  readonly workerId: string;
  readonly graceSeconds: number;
}

const LONG_POLL_SECONDS = 55;
const LOOK_AGAIN_MS = 1_000;
/** Another worker has it, or a person must look at it first; it may come back. */
const NOT_NOW = ['taken', 'not-ready', 'in-doubt'] as const;

/**
 * Asks, waits for people, and goes on as the holder of the turn; if this process dies, the pool is offered it. Where another
 * worker went on with it meanwhile, the outcomes are those of that worker.
 */
export async function holdTurn(holder: Holder, asked: AskedTurn): Promise<FinishedTurn> {
  const { client, workerId } = holder;
  const { conversationId, signal } = asked;
  const { turnId, approvals } = await client.post<TurnOpened>('/v1/turns', bodyOf(holder, asked), { signal });
  const named = { conversationId, turnId, leaseId: leaseIdOf(approvals[0]?.approvalId ?? '') };
  await untilDecided(client, named, signal);
  const taken = await take(holder, named, signal);
  const { results } = await read(client, named, signal);
  if (!taken) return { conversationId, turnId, outcomes: results.map(endedElsewhere), end: () => Promise.resolve() };
  const { attempt, leaseUntil } = taken;
  const held = { leaseId: named.leaseId, workerId, attempt, leaseUntil };
  const outcomes = await holding(client, held, signal, async (alive) => {
    const running = { client, held, conversationId, signal: alive };
    const done: CallOutcome[] = [];
    for (const [index, result] of results.entries())
      done.push(
        await runCall(running, result, { tool: asked.calls[index]?.tool, execution: executionOf(taken, result) }),
      );
    return done;
  });
  const end = async (status: 'completed' | 'failed' = 'completed') =>
    void (await client.post(`/v1/turns/${turnId}/end`, { conversationId, attempt, status }));
  return { conversationId, turnId, outcomes, end };
}

interface Named {
  readonly conversationId: string;
  readonly turnId: string;
  /** Of the turn as a whole. */
  readonly leaseId: string;
}

/** An approval is `ap_<turn>_<place>`, its turn `tn_<turn>`. */
const leaseIdOf = (approvalId: string): string => `tn_${approvalId.split('_')[1] ?? ''}`;

/** Nothing where the turn has ended. A process that was started again is not the holder any more, and takes it as any worker. */
async function take(
  { client, workerId }: Holder,
  { conversationId, turnId, leaseId }: Named,
  signal: AbortSignal | undefined,
): Promise<Taken | undefined> {
  const ways = [
    () => client.post<Taken>(`/v1/turns/${turnId}/resume`, { conversationId, workerId }, { signal }),
    () => client.post<Taken>(`/v1/continuations/${leaseId}/resume`, { workerId }, { signal }),
  ];
  for (let way = 0; ;) {
    try {
      return await ways[way]?.();
    } catch (error) {
      if (isProblem(error, 'turn-ended')) return undefined;
      if (way === 0 && isProblem(error, 'forbidden')) way = 1;
      else if (isProblem(error, ...NOT_NOW)) await sleep(LOOK_AGAIN_MS, signal);
      else throw error;
    }
  }
}

function endedElsewhere(result: CallResult): CallOutcome {
  const told = toldOf(result);
  const { decision, outcome, response } = result;
  if (outcome) return outcomeOf(told, outcome);
  if (decision === 'approved') return { ...told, status: 'refused', problem: 'turn-ended' };
  return decision === 'responded' ? { ...told, status: decision, response } : { ...told, status: decision };
}

export const executionOf = ({ executions }: Pick<Taken, 'executions'>, { approvalId }: CallResult) =>
  executions.find((one) => one.approvalId === approvalId);

const bodyOf = ({ pool, workerId, graceSeconds }: Holder, { calls, signal: _, ...asked }: AskedTurn): object => ({
  ...asked,
  release: 'all',
  pool,
  holder: { workerId, graceSeconds },
  toolCalls: calls.map(({ tool, args, toolCallId }, index) => {
    const { name: toolName, server, description, inputSchema, annotations } = tool;
    return {
      toolCallId: toolCallId ?? `call_${index + 1}`,
      toolName,
      server,
      args,
      description,
      inputSchema,
      annotations,
    };
  }),
});

interface TurnNow {
  readonly status: string;
  readonly results: readonly CallResult[];
}

const pathOf = ({ turnId, conversationId }: Named, more = {}): string =>
  `/v1/turns/${turnId}?${new URLSearchParams({ conversationId, ...more }).toString()}`;

const read = (client: Client, named: Named, signal: AbortSignal | undefined): Promise<TurnNow> =>
  client.get<TurnNow>(pathOf(named), { signal });

async function untilDecided(client: Client, named: Named, signal: AbortSignal | undefined): Promise<void> {
  const path = pathOf(named, { wait: String(LONG_POLL_SECONDS) });
  const patience = { signal, withinMs: (LONG_POLL_SECONDS + 15) * 1_000, patienceMs: Number.POSITIVE_INFINITY };
  while ((await client.get<TurnNow>(path, patience)).status === 'awaiting-approval');
}
