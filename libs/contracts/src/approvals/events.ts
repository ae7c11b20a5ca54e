import {
  CallerId,
  Digest,
  Flag,
  FreeObject,
  Int,
  Moment,
  Name,
  Names,
  NestedList,
  NonEmptyText,
  OneOf,
  Optional,
  Sealed,
  Text,
  Nested,
  AnyJson,
} from '../fields.js';
import { MOST_USES, Remembered } from '../grants/events.js';
import type { ApprovalId, GrantId, Instant, TokenId, TurnKey } from '../ids.js';
import { MOST_STAGES } from '../policies/policy.js';

// These names and shapes are what is on disk: they are only ever added to.

export const DECISIONS = ['approved', 'denied', 'responded', 'expired', 'cancelled'] as const;
export type DecisionKind = (typeof DECISIONS)[number];

export const ANSWERS = ['approve', 'deny', 'respond', 'cancel'] as const;
export type AnswerKind = (typeof ANSWERS)[number];

/** More votes and withdrawals than anybody could read; what time does still has its place after them. */
export const MOST_VOTES = 900;
const MOST_STEPS = 1_000;

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

/** The standing decision that approved: whose it is, and which of its uses this was. */
export class UsedGrant {
  @Text(64) grantId: GrantId;
  @Int(1, MOST_USES) n: number;
  @Name(320) by: string;
}

/** The earlier denial that answered the same call again. */
export class RepeatedDenial {
  /** That a person denied. */
  @Text(64) approvalId: ApprovalId;
  @Name(320) by: string;
  /** How many times it was asked for again since, this one included. */
  @Int(1, 1_000_000_000) count: number;
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
  /** How many steps of its story were taken into account; none where one act decided. */
  @Optional() @Int(1, MOST_STEPS) steps?: number;
  /** With `approved`: until when it can be used. Facts from before it was said mean 24 hours. */
  @Optional() @Moment() usableUntil?: Instant;
  /** The rules of the policy that decided, where it did. */
  @Optional() @Names(500) rules?: string[];
  /** With `approved` by a person: the grant that it gives beside. */
  @Optional() @Nested(() => Remembered) remember?: Remembered;
  /** With `approved` by a grant. */
  @Optional() @Nested(() => UsedGrant) grant?: UsedGrant;
  /** With `denied` by an earlier denial. */
  @Optional() @Nested(() => RepeatedDenial) repeats?: RepeatedDenial;
}

class Step {
  @Text(64) approvalId: ApprovalId;
  /** The place in the approval's story before its decision: `step.<n>`. */
  @Int(1, MOST_STEPS) n: number;
}

/** One person's say, where more than one is needed or the last is held. The latest of each person counts. */
export class ApprovalVoteCast extends Step {
  @OneOf(ANSWERS) vote: AnswerKind;
  @Optional() @Text(4_000) @Sealed() reason?: string;
  /** Other arguments than were asked about or proposed so far, whole: it voids the approvals before it. */
  @Optional() @FreeObject() @Sealed() editedArgs?: Record<string, unknown>;
  /** Of the arguments that this person would let run. */
  @Digest() argsDigest: string;
  @AnyJson() @Sealed() response?: unknown;
  /** The groups that the voter's token named. */
  @Names() groups: string[];
  /** What this vote closed it as, if it did. */
  @Optional() @OneOf(['approved', 'denied', 'responded', 'cancelled']) closes?: Exclude<DecisionKind, 'expired'>;
  /** Until when it is held, where what closed it can still be withdrawn. */
  @Optional() @Moment() heldUntil?: Instant;
  @Nested(() => AppliedRequirement) requirement: AppliedRequirement;
  @Int(1, Number.MAX_SAFE_INTEGER) requestSeq: number;
}

/** The voter's own: it counts no more. */
export class ApprovalVoteWithdrawn extends Step {
  /** Where the others' votes are enough without it: it stays held. */
  @Optional() @Moment() heldUntil?: Instant;
}

/** From now on those of this stage may approve too: the votes that there are can be enough for it. */
export class ApprovalEscalated extends Step {
  @Optional() @OneOf(['approved']) closes?: 'approved';
  /** Until when it is held, where a vote can still be withdrawn. */
  @Optional() @Moment() heldUntil?: Instant;
  @Int(1, MOST_STAGES) stage: number;
  /** When the stage after it begins, if there is one. */
  @Optional() @Moment() nextAt?: Instant;
  /** `time` has come, or nobody could `meet` what was required before. */
  @OneOf(['time', 'unmeetable']) because: 'time' | 'unmeetable';
}

/** Nobody withdrew in time: the decision follows. */
export class ApprovalHoldEnded extends Step {}

/** A worker took the one right to run the tool. */
export class ToolExecutionStarted {
  @Text(64) approvalId: ApprovalId;
  @Int(1, 1_000_000_000) attempt: number;
  @CallerId() workerId: string;
  @Text(64) tokenId: TokenId;
  @Digest() argsDigest: string;
  /** The grant that approved it, where one did. */
  @Optional() @Text(64) grantId?: GrantId;
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

/** A rule, and why it could not say whether it matches. */
export class FailedRule {
  @CallerId() rule: string;
  @Text(500) @Sealed() message: string;
}

/** Rules of the policy that gave no answer for this call: a person decides. */
export class PolicyEvaluationFailed {
  @Text(64) approvalId: ApprovalId;
  @Int(0, 1_000_000_000) policyVersion: number;
  @NestedList(() => FailedRule, 500) failures: FailedRule[];
}

export type ApprovalEvent =
  | { readonly type: 'ApprovalVoteCast'; readonly data: ApprovalVoteCast }
  | { readonly type: 'ApprovalVoteWithdrawn'; readonly data: ApprovalVoteWithdrawn }
  | { readonly type: 'ApprovalEscalated'; readonly data: ApprovalEscalated }
  | { readonly type: 'ApprovalHoldEnded'; readonly data: ApprovalHoldEnded }
  | { readonly type: 'PolicyEvaluationFailed'; readonly data: PolicyEvaluationFailed }
  | { readonly type: 'ToolApprovalDecided'; readonly data: ToolApprovalDecided }
  | { readonly type: 'ToolExecutionStarted'; readonly data: ToolExecutionStarted }
  | { readonly type: 'ToolApprovalRevoked'; readonly data: ToolApprovalRevoked }
  | { readonly type: 'ToolApprovalLapsed'; readonly data: ToolApprovalLapsed }
  | { readonly type: 'DecisionRefused'; readonly data: DecisionRefused };
