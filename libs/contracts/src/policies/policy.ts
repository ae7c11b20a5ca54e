import { ArrayMinSize } from 'class-validator';
import { CallerId, Flag, Int, Names, Nested, NestedList, NonEmptyText, OneOf, Optional, Text } from '../fields.js';

// These names and shapes are what is on disk: they are only ever added to.

export const EFFECTS = ['approve', 'deny', 'require'] as const;
export type Effect = (typeof EFFECTS)[number];

const MONTH = 2_592_000;
export const MOST_STAGES = 5;

/**
 * Who must approve. Either `count` different people, of whom each is named in `subjects` or belongs to one of `groups` (any
 * approver where neither is given), or one of `all`, `any`, `inOrder` over quorums. One person fills one place.
 */
export class Quorum {
  @Optional() @Int(1, 20) count?: number;
  @Optional() @Names(50) @ArrayMinSize(1) groups?: string[];
  @Optional() @Names(50, 320) @ArrayMinSize(1) subjects?: string[];
  @Optional() @NestedList(() => Quorum, 20) @ArrayMinSize(1) all?: Quorum[];
  @Optional() @NestedList(() => Quorum, 20) @ArrayMinSize(1) any?: Quorum[];
  /** One after the other; at the top of a quorum only. */
  @Optional() @NestedList(() => Quorum, 20) @ArrayMinSize(1) inOrder?: Quorum[];
  /** How many must say no before it is closed by that: 1 where not given; at the top of a quorum only. */
  @Optional() @Int(1, 20) denyCount?: number;
}

/** Whoever may approve too from a while after the request on. */
export class EscalationStage {
  @Int(1, MONTH) afterSeconds: number;
  @Nested(() => Quorum) approvers: Quorum;
}

/** What is demanded of one approval: how many of whom, by when, and what the time does. Times in seconds. */
export class Requirement {
  @Nested(() => Quorum) approvers: Quorum;
  /** From the request; 24 hours where not given. The turn's own may only shorten it. */
  @Optional() @Int(1, MONTH) expiresInSeconds?: number;
  /** `deny` where not given: the decision is `expired`. */
  @Optional() @OneOf(['deny', 'approve']) onExpiry?: 'deny' | 'approve';
  /** From the decision, after which an unused approval lapses; 24 hours where not given. */
  @Optional() @Int(1, MONTH) useWithinSeconds?: number;
  /** From the last vote needed, during which it is `held` and a vote can be withdrawn. */
  @Optional() @Int(1, 86_400) holdSeconds?: number;
  @Optional() @NestedList(() => EscalationStage, MOST_STAGES) escalate?: EscalationStage[];
  @Optional() @Flag() askAgainAfterDenial?: boolean;
}

/** One rule. It matches a call whose tool, server and agent match one of its patterns (`*` is any run of characters) and whose `when` is true. */
export class PolicyRule {
  @CallerId() id: string;
  @Names(50) @ArrayMinSize(1) tools: string[];
  @Optional() @Names(50) @ArrayMinSize(1) servers?: string[];
  @Optional() @Names(50) @ArrayMinSize(1) agents?: string[];
  /** CEL over `args`, `tool`, `server`, `agent`, `conversation`, `annotations`. */
  @Optional() @NonEmptyText(4_096) when?: string;
  @OneOf(EFFECTS) then: Effect;
  /** With `require`, and only there. */
  @Optional() @Nested(() => Requirement) require?: Requirement;
  /** The tool may safely run twice: a call in doubt counts as free, where every rule that matches says so. */
  @Optional() @Flag() idempotent?: boolean;
  /** For people, and for the model where the rule denies. */
  @Optional() @Text(1_000) reason?: string;
}

/** What decides who must be asked. */
export class Policy {
  @NestedList(() => PolicyRule, 500) rules: PolicyRule[];
  @Nested(() => Requirement) default: Requirement;
}
