import type { ContinuationKind } from '#contracts/continuations/events';
import { approvalIdOf, type Instant, type LeaseKey } from '#contracts/ids';
import type { RequestedToolCall } from '#contracts/turns/events';
import type { Approval } from './approval.js';
import { modelText } from './model-text.js';
import type { KnownTurn } from './turn.js';

export interface CallResult {
  readonly toolCallId: string;
  readonly approvalId: string;
  readonly toolName: string;
  readonly decision: string;
  /** The arguments to run where it was approved; else those that were asked about. */
  readonly args: Record<string, unknown>;
  readonly argsDigest: string;
  readonly edited: boolean;
  readonly reason: string | null;
  readonly response: unknown;
  readonly outcome?: { readonly ok: boolean; readonly result?: unknown; readonly error?: unknown };
  readonly modelText: string;
  readonly decidedBy: string;
}

/** Contract section 3. Assembled from the log at each pull, so that it says what is true now. */
export interface Continuation {
  readonly command: 'ContinueConversation';
  readonly kind: ContinuationKind;
  readonly leaseId: LeaseKey;
  readonly conversationId: string;
  readonly turnId: string;
  readonly release: string;
  readonly pool: string;
  readonly decidedAt: Instant;
  readonly results: readonly CallResult[];
  readonly seq: number;
}

/** Of the turn, or of the one call at `index`. Every call in it must be decided. */
export function continuationOf(turn: KnownTurn, approvals: readonly Approval[], index?: number): Continuation {
  const { turnKey, conversationId, turnId, release, pool, toolCalls } = turn.request;
  const results = toolCalls.flatMap((call, at) =>
    at === (index ?? at) ? [callResult(turn, call, at, approvals[at])] : [],
  );
  const concerned = approvals.filter((_, at) => at === (index ?? at));
  return {
    command: 'ContinueConversation',
    kind: index === undefined ? 'turn' : 'call',
    leaseId: index === undefined ? turnKey : approvalIdOf(turnKey, index),
    conversationId,
    turnId,
    release,
    pool,
    decidedAt: concerned.map((one) => one.decision?.at ?? turn.requestedAt).reduce((a, b) => (a > b ? a : b)),
    results,
    seq: Math.max(turn.seq, ...concerned.map((one) => one.seq)),
  };
}

export function callResult(turn: KnownTurn, call: RequestedToolCall, index: number, approval?: Approval): CallResult {
  if (!approval?.decision) throw new Error(`Call ${index} of ${turn.request.turnKey} is not decided`);
  const { decision, use, outcome } = approval;
  return {
    toolCallId: call.toolCallId,
    approvalId: approvalIdOf(turn.request.turnKey, index),
    toolName: call.toolName,
    decision: use && use.is !== 'started' ? use.is : decision.is,
    args: decision.editedArgs ?? call.args,
    argsDigest: decision.argsDigest,
    edited: decision.editedArgs !== undefined,
    reason: (use?.is === 'revoked' ? use.reason : decision.reason) ?? null,
    response: decision.response ?? null,
    ...(outcome
      ? { outcome: outcome.ok ? { ok: true, result: outcome.result } : { ok: false, error: outcome.error } }
      : {}),
    modelText: modelText(call.toolName, approval),
    decidedBy: use && use.is !== 'started' ? use.by : decision.by,
  };
}
