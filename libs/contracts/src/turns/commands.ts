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

/** `POST /v1/continuations/{leaseId}/resume`. */
export class WorkerBody {
  @CallerId() workerId: string;
}

/** With `asHolder` `POST /v1/turns/{turnId}/resume`. */
export class ResumeTurn extends WorkerBody {
  @Text(64) key: LeaseKey;
  @Flag() asHolder: boolean;
}

/** `POST /v1/continuations/{leaseId}/extend`, `/give-back` and `/done`. */
export class AttemptBody extends WorkerBody {
  @Int(1, 1_000_000_000) attempt: number;
}

export class ExtendLease extends AttemptBody {
  @Text(64) key: LeaseKey;
}

export class GiveBackLease extends ExtendLease {}

/** `POST /v1/approvals/{approvalId}/outcome`: `ok` says which of `result` and `error` counts. */
export class OutcomeBody extends AttemptBody {
  @Flag() ok: boolean;
  @AnyJson() result?: unknown;
  @AnyJson() error?: unknown;
  @Optional() @Int(0, 2_147_483_647) durationMs?: number;
}

export class ReportOutcome extends OutcomeBody {
  @Text(64) approvalId: ApprovalId;
}

/** `POST /v1/approvals/{id}/settle`: a person says what became of a tool that began and was never heard of again. */
export class SettleBody {
  @Flag() ok: boolean;
  @AnyJson() result?: unknown;
  @AnyJson() error?: unknown;
  @NonEmptyText(4_000) reason: string;
}

export class SettleExecution extends SettleBody {
  @Text(64) approvalId: ApprovalId;
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

/** Makes the pool's subscription, where it is not there yet. */
export class PreparePool {
  @CallerId() pool: string;
}
