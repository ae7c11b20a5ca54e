/** What goes over the wire, as `docs/` and `/v1/openapi.json` have it. */

/** What became of an approval: its decision, or what came after it. */
export type DecidedAs = 'approved' | 'denied' | 'responded' | 'expired' | 'cancelled' | 'revoked' | 'lapsed';

export interface ToolOutcome {
  readonly ok: boolean;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface CallResult {
  readonly toolCallId: string;
  readonly approvalId: string;
  readonly toolName: string;
  readonly decision: DecidedAs;
  /** Those to run where it was approved: the approver may have edited them. */
  readonly args: Record<string, unknown>;
  readonly argsDigest: string;
  readonly edited: boolean;
  readonly reason: string | null;
  /** A person's answer in the tool's place. */
  readonly response: unknown;
  readonly outcome?: ToolOutcome;
  readonly modelText: string;
  readonly decidedBy: string;
}

export interface Continuation {
  readonly kind: 'turn' | 'call';
  readonly leaseId: string;
  readonly conversationId: string;
  readonly turnId: string;
  readonly release: 'all' | 'each';
  readonly pool: string;
  readonly decidedAt: string;
  readonly results: readonly CallResult[];
  readonly seq: number;
}

/** What an earlier attempt has done already; what is `free` waits for a `use`. */
export interface Execution extends Pick<ToolOutcome, 'result' | 'error'> {
  readonly approvalId: string;
  readonly state: 'free' | 'executed' | 'failed';
}

/** A continuation that is one's own until `leaseUntil`. */
export interface Taken {
  readonly attempt: number;
  readonly leaseUntil: string;
  readonly executions: readonly Execution[];
}

export interface TurnOpened {
  readonly turnId: string;
  readonly conversationId: string;
  readonly status: string;
  readonly approvals: readonly { readonly approvalId: string; readonly toolCallId: string; readonly status: string }[];
  readonly seq: number;
}
