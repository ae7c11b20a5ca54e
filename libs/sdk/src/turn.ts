import type { Client } from './client.js';
import { holding } from './lease.js';
import { runCall } from './run-call.js';
import type { AnyTool, CallOutcome } from './tools.js';
import type { CallResult, Continuation, Taken, TurnOpened } from './wire.js';

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
  end(status?: 'completed' | 'failed'): Promise<void>;
}

export interface Holder {
  readonly client: Client;
  readonly pool: string;
  readonly workerId: string;
  readonly graceSeconds: number;
}

const LONG_POLL_SECONDS = 55;

/** Asks, waits for people, and goes on as the holder of the turn; if this process dies, the pool is offered it. */
export async function holdTurn(holder: Holder, asked: AskedTurn): Promise<FinishedTurn> {
  const { client, workerId } = holder;
  const { conversationId, signal } = asked;
  const { turnId } = await client.post<TurnOpened>('/v1/turns', bodyOf(holder, asked), { signal });
  await untilDecided(client, { conversationId, turnId }, signal);
  const taken = await client.post<Taken & { readonly continuation: Continuation }>(
    `/v1/turns/${turnId}/resume`,
    { conversationId, workerId },
    { signal },
  );
  const { attempt, leaseUntil, continuation } = taken;
  const held = { leaseId: continuation.leaseId, workerId, attempt, leaseUntil };
  const outcomes = await holding(client, held, signal, async (alive) => {
    const done: CallOutcome[] = [];
    for (const [index, result] of continuation.results.entries()) {
      const running = { client, held, conversationId, signal: alive };
      done.push(
        await runCall(running, result, { tool: asked.calls[index]?.tool, execution: executionOf(taken, result) }),
      );
    }
    return done;
  });
  const end = async (status: 'completed' | 'failed' = 'completed') =>
    void (await client.post(`/v1/turns/${turnId}/end`, { conversationId, attempt, status }));
  return { conversationId, turnId, outcomes, end };
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

interface Named {
  readonly conversationId: string;
  readonly turnId: string;
}

async function untilDecided(client: Client, { conversationId, turnId }: Named, signal?: AbortSignal): Promise<void> {
  const query = new URLSearchParams({ conversationId, wait: String(LONG_POLL_SECONDS) });
  const patience = { signal, withinMs: (LONG_POLL_SECONDS + 15) * 1_000, patienceMs: Number.POSITIVE_INFINITY };
  for (;;) {
    const { status } = await client.get<{ status: string }>(`/v1/turns/${turnId}?${query.toString()}`, patience);
    if (status !== 'awaiting-approval') return;
  }
}
