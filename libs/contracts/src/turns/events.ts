import { MaxLength } from 'class-validator';
import {
  AnyJson,
  CallerId,
  Digest,
  FreeObject,
  Int,
  Moment,
  Name,
  Names,
  Nested,
  NestedList,
  OneOf,
  Optional,
  Sealed,
  Text,
} from '../fields.js';
import type { ApprovalId, Instant, LeaseKey, TokenId, TurnKey } from '../ids.js';

// These names and shapes are what is on disk: they are only ever added to.

export const RELEASES = ['all', 'each'] as const;
export type Release = (typeof RELEASES)[number];
export const TURN_ENDS = ['completed', 'failed', 'cancelled'] as const;
export type TurnEnd = (typeof TURN_ENDS)[number];

export class Agent {
  @Name() id: string;
  @Optional() @Names(32) path?: string[];
  @Optional() @Name(320) onBehalfOf?: string;
}

/** The worker that opened the turn and waits for it; the pool is not offered the turn until `graceSeconds` after its command. */
export class Holder {
  @CallerId() workerId: string;
  @Int(0, 60) graceSeconds: number;
}

export class ToolCall {
  @Name(128) toolCallId: string;
  @Name() toolName: string;
  @Optional() @Name() server?: string;
  @FreeObject() @Sealed() args: Record<string, unknown>;
  @Optional() @Text(20_000) @Sealed() description?: string;
  /** JSON Schema 2020-12 of `args`; an edit must satisfy it. */
  @Optional() @FreeObject() inputSchema?: Record<string, unknown>;
  @Optional() @FreeObject() annotations?: Record<string, unknown>;
}

export class RequestedToolCall extends ToolCall {
  @Digest() argsDigest: string;
}

/** One whole turn: it is in the log whole or not at all. */
export class ToolApprovalRequested {
  @Text(64) turnKey: TurnKey;
  @CallerId() conversationId: string;
  @CallerId() turnId: string;
  @Nested(() => Agent) agent: Agent;
  @OneOf(RELEASES) release: Release;
  @CallerId() pool: string;
  @Optional() @Int(1, 2_592_000) expiresInSeconds?: number;
  @Optional() @FreeObject() @Sealed() context?: Record<string, unknown>;
  @Optional() @Nested(() => Holder) holder?: Holder;
  @Optional() @CallerId() supersedes?: string;
  @NestedList(() => RequestedToolCall, 64) toolCalls: RequestedToolCall[];
  /** Over the request without `holder`: the same turn again is the same turn. */
  @Digest() digest: string;
  /** The token that opened it, and the person who owns that token's agent. */
  @Text(64) tokenId: TokenId;
  @Optional() @Name(320) owner?: string;
}

class LeaseFact {
  /** The turn (kind `turn`) or the approval (kind `call`) that was taken. */
  @Text(64) key: LeaseKey;
  /** The place in the lease's story: `res.<n>`. */
  @Int(1, 1_000_000_000) n: number;
  /** The fencing token: counts the takings, from 1. */
  @Int(1, 1_000_000_000) attempt: number;
  /** When the attempt began: an extension lasts as long as the attempt has run. */
  @Moment() since: Instant;
  @CallerId() workerId: string;
  @Text(64) tokenId: TokenId;
}

export class TurnResumed extends LeaseFact {
  @Moment() leaseUntil: Instant;
}

export class LeaseExtended extends LeaseFact {
  @Moment() leaseUntil: Instant;
}

export class LeaseGivenBack extends LeaseFact {}

export class TurnEnded {
  @Text(64) turnKey: TurnKey;
  @CallerId() turnId: string;
  @OneOf(TURN_ENDS) status: TurnEnd;
  @Optional() @Int(1, 1_000_000_000) attempt?: number;
  @Optional() @Text(4_000) @Sealed() reason?: string;
  /** The turn that took this one's place. */
  @Optional() @CallerId() supersededBy?: string;
}

class OutcomeFact {
  @Text(64) approvalId: ApprovalId;
  /** The attempt whose `use` this is the outcome of. */
  @Int(1, 1_000_000_000) attempt: number;
  @Optional() @Int(0, 2_147_483_647) durationMs?: number;
  /** Why a person settled it, where one did: its presence says that no worker reported this. */
  @Optional() @MaxLength(4_000) @Sealed() settledBecause?: string;
}

export class ToolExecutionSucceeded extends OutcomeFact {
  @AnyJson() @Sealed() result: unknown;
}

export class ToolExecutionFailed extends OutcomeFact {
  @AnyJson() @Sealed() error: unknown;
}

export type TurnEvent =
  | { readonly type: 'ToolApprovalRequested'; readonly data: ToolApprovalRequested }
  | { readonly type: 'TurnResumed'; readonly data: TurnResumed }
  | { readonly type: 'LeaseExtended'; readonly data: LeaseExtended }
  | { readonly type: 'LeaseGivenBack'; readonly data: LeaseGivenBack }
  | { readonly type: 'TurnEnded'; readonly data: TurnEnded }
  | { readonly type: 'ToolExecutionSucceeded'; readonly data: ToolExecutionSucceeded }
  | { readonly type: 'ToolExecutionFailed'; readonly data: ToolExecutionFailed };
