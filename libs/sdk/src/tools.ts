/** What a tool is given beside its arguments. */
export interface RunContext {
  /** Aborted when another worker has taken the turn over, or this one is stopped: whatever is done then may be done twice. */
  readonly signal: AbortSignal;
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly conversationId: string;
}

export interface ToolDefinition<Args extends Record<string, unknown> = Record<string, unknown>, Result = unknown> {
  readonly name: string;
  /** The system that it acts on: policies and grants are about a tool of a server. */
  readonly server?: string;
  readonly description?: string;
  /** JSON Schema of its arguments: edits are checked against it. */
  readonly inputSchema?: object;
  readonly annotations?: object;
  /** Runs with the arguments that were approved, which are not always those that were asked for. */
  execute(args: Args, context: RunContext): Promise<Result> | Result;
}

/** Any tool, whatever its arguments are. */
export type AnyTool = Omit<ToolDefinition, 'execute'> & {
  execute(args: never, context: RunContext): unknown;
};

/** How a call ended. Only `executed` and `failed` ran; what did not run says in `modelText` what to tell the model. */
export type CallOutcome<Result = unknown> = Told &
  (
    | { readonly status: 'executed'; readonly result: Result }
    | { readonly status: 'failed'; readonly error: unknown }
    | { readonly status: 'responded'; readonly response: unknown }
    | { readonly status: 'denied' | 'expired' | 'cancelled' | 'revoked' | 'lapsed' }
    /** It was approved, and still could not be run now; `problem` says why. */
    | { readonly status: 'refused'; readonly problem: string }
  );

/** Of every call, however it ended. */
export interface Told {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** Those that ran, or would have. */
  readonly args: Record<string, unknown>;
  readonly edited: boolean;
  readonly reason: string | null;
  readonly decidedBy: string;
  readonly modelText: string;
}
