import { ArrayMinSize } from 'class-validator';
import { AnyJson, Digest, FreeObject, Nested, NestedList, NonEmptyText, OneOf, Optional, Text } from '../fields.js';
import type { ApprovalId, TurnKey } from '../ids.js';
import { Remember } from '../grants/commands.js';
import { ANSWERS, type AnswerKind } from './events.js';
import { AttemptBody } from '../turns/commands.js';

/** A person's answer to one call. */
class AnswerBody {
  @OneOf(ANSWERS) decision: AnswerKind;
  @Optional() @Text(4_000) reason?: string;
  /** With `approve`: the arguments to run instead, whole; must satisfy the call's `inputSchema`. */
  @Optional() @FreeObject() updatedInput?: Record<string, unknown>;
  /** With `respond`: any JSON value; what the model is given as the tool's result. */
  @AnyJson() response?: unknown;
  /** What the approver saw. Where given, it must be the digest of the arguments that were asked about. */
  @Optional() @Digest() argsDigest?: string;
}

/** `POST /v1/approvals/{id}/decision`. */
export class DecisionBody extends AnswerBody {
  /** With `approve`: calls like this one are approved from now on, as long as this person alone could. */
  @Optional() @Nested(() => Remember) remember?: Remember;
}

export class DecideApproval extends DecisionBody {
  @Text(64) approvalId: ApprovalId;
}

/** An item of `POST /v1/decisions`: its `approvalId` is checked when it is decided, so that one bad id spoils no other. Nothing is remembered in bulk. */
export class BulkDecisionItem extends AnswerBody {
  @NonEmptyText(128) approvalId: string;
}

export class BulkDecisions {
  @NestedList(() => BulkDecisionItem, 100) @ArrayMinSize(1) items: BulkDecisionItem[];
}

/** `POST /v1/approvals/{approvalId}/use`. */
export class UseBody extends AttemptBody {
  @Digest() argsDigest: string;
}

export class UseApproval extends UseBody {
  @Text(64) approvalId: ApprovalId;
}

/** `POST /v1/approvals/{id}/revoke`. */
export class RevokeBody {
  @NonEmptyText(4_000) reason: string;
}

export class RevokeApproval extends RevokeBody {
  @Text(64) approvalId: ApprovalId;
}

/** Closes what an ended turn left: undecided approvals become cancelled, unused ones revoked. */
export class CloseTurnApprovals {
  @Text(64) turnKey: TurnKey;
}

export class WithdrawVote {
  @Text(64) approvalId: ApprovalId;
}

export class UnparkApproval {
  @Text(64) approvalId: ApprovalId;
}
