import {
  CallerId,
  Digest,
  Flag,
  FreeObject,
  Int,
  NonEmptyText,
  OneOf,
  Optional,
  Sealed,
  Text,
  Nested,
  AnyJson,
} from '../fields.js';
import type { ApprovalId, TokenId, TurnKey } from '../ids.js';

// These names and shapes are what is on disk: they are only ever added to.

export const DECISIONS = ['approved', 'denied', 'responded', 'expired', 'cancelled'] as const;
export type DecisionKind = (typeof DECISIONS)[number];

/** Why a try achieved nothing; `<why>` in the fact's subject. */
export const REFUSED_TRIES = [
  'superseded',
  'late',
  'self-approval',
  'forbidden',
  'invalid-edit',
  'arguments-changed',
] as const;
export type RefusedTry = (typeof REFUSED_TRIES)[number];

/** Which requirement was met: a rebuild that computes another hash alarms. */
export class AppliedRequirement {
  @Int(0, 1_000_000_000) policyVersion: number;
  @Text(32) engineVersion: string;
  @Digest() hash: string;
}

/** The one terminal answer to an approval: every way of closing it has this subject. */
export class ToolApprovalDecided {
  @Text(64) approvalId: ApprovalId;
  @OneOf(DECISIONS) decision: DecisionKind;
  @Optional() @Text(4_000) @Sealed() reason?: string;
  /** The arguments to run, whole; there only where the approver edited them. */
  @Optional() @FreeObject() @Sealed() editedArgs?: Record<string, unknown>;
  /** Of the arguments that may run (or that were asked about, where none may). */
  @Digest() argsDigest: string;
  /** With `responded`: what the model is given as the tool's result. */
  @AnyJson() @Sealed() response?: unknown;
  @Nested(() => AppliedRequirement) requirement: AppliedRequirement;
  /** The log sequence of the request that was decided on. */
  @Int(1, Number.MAX_SAFE_INTEGER) requestSeq: number;
}

/** A worker took the one right to run the tool. */
export class ToolExecutionStarted {
  @Text(64) approvalId: ApprovalId;
  @Int(1, 1_000_000_000) attempt: number;
  @CallerId() workerId: string;
  @Text(64) tokenId: TokenId;
  @Digest() argsDigest: string;
}

export class ToolApprovalRevoked {
  @Text(64) approvalId: ApprovalId;
  @NonEmptyText(4_000) @Sealed() reason: string;
  /** The turn had ended: nobody took the approval back, there was nothing left to run it for. */
  @Flag() turnEnded: boolean;
}

export class ToolApprovalLapsed {
  @Text(64) approvalId: ApprovalId;
}

/** Somebody tried and it came to nothing: the first of its kind by this person. */
export class DecisionRefused {
  @Text(64) approvalId: ApprovalId;
  @Text(64) who: string;
  @OneOf(REFUSED_TRIES) why: RefusedTry;
  @OneOf(['approve', 'deny', 'respond', 'cancel', 'revoke']) tried:
    'approve' | 'deny' | 'respond' | 'cancel' | 'revoke';
  @Text(64) turnKey: TurnKey;
}

export type ApprovalEvent =
  | { readonly type: 'ToolApprovalDecided'; readonly data: ToolApprovalDecided }
  | { readonly type: 'ToolExecutionStarted'; readonly data: ToolExecutionStarted }
  | { readonly type: 'ToolApprovalRevoked'; readonly data: ToolApprovalRevoked }
  | { readonly type: 'ToolApprovalLapsed'; readonly data: ToolApprovalLapsed }
  | { readonly type: 'DecisionRefused'; readonly data: DecisionRefused };
