import { Client, type ClientOptions } from './client.js';
import type { AnyTool, CallOutcome, ToolDefinition } from './tools.js';
import { holdTurn, type AskedTurn, type FinishedTurn } from './turn.js';
import { watch, type ConversationMessage, type WatchOptions } from './watch.js';
import { startWorker, type Worker, type WorkerOptions } from './worker.js';

export interface HoldpointOptions extends ClientOptions {
  /** The workers that may go on with a turn when this one dies; `default` where not given. */
  readonly pool?: string;
  /** Of this process; made where not given. Two processes never share one. */
  readonly workerId?: string;
  /** For how long a decided turn waits for this process before the pool is offered it; 10 where not given. */
  readonly graceSeconds?: number;
}

/** Where a call of a tool belongs: what `turn` needs beside the call itself. */
export type CallContext = Omit<AskedTurn, 'calls'> & { readonly toolCallId?: string };

/** A tool that asks before it runs. */
export type HeldTool<Args, Result> = AnyTool & {
  /** Asks for one call, waits, runs what was approved, and ends the turn. Denied, expired and cancelled are values. */
  call(args: Args, context: CallContext): Promise<CallOutcome<Result>>;
};

/** An agent's side of Holdpoint. */
export class Holdpoint {
  private readonly client: Client;
  private readonly pool: string;
  readonly workerId: string;

  constructor(private readonly options: HoldpointOptions) {
    this.client = new Client(options);
    this.pool = options.pool ?? 'default';
    this.workerId = options.workerId ?? `w-${crypto.randomUUID()}`;
  }

  tool<Args extends Record<string, unknown>, Result>(definition: ToolDefinition<Args, Result>): HeldTool<Args, Result> {
    const call = async (args: Args, { toolCallId, ...context }: CallContext) => {
      const named = toolCallId === undefined ? {} : { toolCallId };
      const turn = await this.turn({ ...context, calls: [{ tool: definition, args, ...named }] });
      await turn.end();
      const [outcome] = turn.outcomes;
      if (!outcome) throw new Error('A turn of one call gave no outcome');
      return outcome as CallOutcome<Result>;
    };
    return { ...definition, call };
  }

  /** Several calls at once, as the model asked for them. Say `end()` when the conversation has gone on. */
  turn(asked: AskedTurn): Promise<FinishedTurn> {
    const { client, pool, workerId } = this;
    return holdTurn({ client, pool, workerId, graceSeconds: this.options.graceSeconds ?? 10 }, asked);
  }

  /** Goes on with turns that any worker of the pool opened, until it is stopped. */
  worker(options: WorkerOptions): Worker {
    const { pool = this.pool, concurrency = 4 } = options;
    const onError = (error: unknown) => (options.onError ?? console.error)(error);
    const onContinue: WorkerOptions['onContinue'] = (turn) => options.onContinue(turn);
    return startWorker(this.client, this.workerId, { tools: options.tools, pool, concurrency, onError, onContinue });
  }

  /** What happens in a conversation, as it happens. */
  watch(conversationId: string, options: WatchOptions = {}): AsyncGenerator<ConversationMessage> {
    return watch(this.client, conversationId, options);
  }
}
