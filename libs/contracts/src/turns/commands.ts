import { ArrayMinSize } from 'class-validator';
import {
  AnyJson,
  CallerId,
  Flag,
  FreeObject,
  Int,
  NonEmptyText,
  Nested,
  NestedList,
  OneOf,
  Optional,
  Text,
} from '../fields.js';
import type { ApprovalId, LeaseKey, TurnKey } from '../ids.js';
import { Agent, Holder, RELEASES, ToolCall, type Release } from './events.js';

/** `POST /v1/turns`. `release` is `all` and `pool` is `default` where missing; `turnId` is made where missing. */
export class OpenTurn {
  @CallerId() conversationId: string;
  @Optional() @CallerId() turnId?: string;
  @Nested(() => Agent) agent: Agent;
  @Optional() @OneOf(RELEASES) release?: Release;
  @Optional() @CallerId() pool?: string;
  /** Seconds until the open approvals expire. May only shorten what the requirement says; a longer one is cut to it. */
  @Optional() @Int(1, 2_592_000_000) expiresInSeconds?: number;
  @Optional() @FreeObject() context?: Record<string, unknown>;
  @Optional() @Nested(() => Holder) holder?: Holder;
  @Optional() @CallerId() supersedes?: string;
  @NestedList(() => ToolCall, 64) @ArrayMinSize(1) toolCalls: ToolCall[];
}

/** `POST /v1/continuations/{leaseId}/resume`, and with `asHolder` `POST /v1/turns/{turnId}/resume`. */
export class ResumeTurn {
  @Text(64) key: LeaseKey;
  @CallerId() workerId: string;
  @Flag() asHolder: boolean;
}

export class ExtendLease {
  @Text(64) key: LeaseKey;
  @CallerId() workerId: string;
  @Int(1, 1_000_000_000) attempt: number;
}

export class GiveBackLease extends ExtendLease {}

/** `POST /v1/approvals/{approvalId}/outcome`: `ok` says which of `result` and `error` counts. */
export class ReportOutcome {
  @Text(64) approvalId: ApprovalId;
  @CallerId() workerId: string;
  @Int(1, 1_000_000_000) attempt: number;
  @Flag() ok: boolean;
  @AnyJson() result?: unknown;
  @AnyJson() error?: unknown;
  @Optional() @Int(0, 2_147_483_647) durationMs?: number;
}

/** `POST /v1/approvals/{id}/settle`: a person says what became of a tool that began and was never heard of again. */
export class SettleExecution {
  @Text(64) approvalId: ApprovalId;
  @Flag() ok: boolean;
  @AnyJson() result?: unknown;
  @AnyJson() error?: unknown;
  @NonEmptyText(4_000) reason: string;
}

export class EndTurn {
  @Text(64) turnKey: TurnKey;
  @Int(1, 1_000_000_000) attempt: number;
  @OneOf(['completed', 'failed']) status: 'completed' | 'failed';
}

export class CancelTurn {
  @Text(64) turnKey: TurnKey;
  @Optional() @Text(4_000) reason?: string;
}
