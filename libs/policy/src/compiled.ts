import { digestOf } from '#contracts/canonical';
import type { Effect, Policy, PolicyRule, Requirement } from '#contracts/policies/policy';
import { compileCondition, type Condition } from './condition.js';
import { ConditionFailed, type ConditionInput } from './condition-input.js';
import { completed, type FullRequirement } from './join.js';
import { isAmong } from './pattern.js';

/** A version of the policy, ready to be asked. Version 0 is what is in force before any is published. */
export interface CompiledPolicy {
  readonly version: number;
  readonly rules: readonly CompiledRule[];
  readonly default: FullRequirement;
}

export interface CompiledRule {
  readonly id: string;
  readonly then: Effect;
  readonly require: FullRequirement | undefined;
  readonly idempotent: boolean;
  readonly reason: string | undefined;
  /** Throws `ConditionFailed` where it can neither say that it matches nor that it does not. */
  readonly matches: Condition;
}

export const ONE_APPROVER: Requirement = { approvers: { count: 1 } };

export const BEFORE_ANY_POLICY: CompiledPolicy = { version: 0, rules: [], default: completed(ONE_APPROVER) };

export const hashOfPolicy = ({ rules, default: otherwise }: Policy): string => digestOf({ rules, default: otherwise });

/** A rule that does not compile is kept as one that fails: what is in the log is in force, and failing means that a person decides. */
export const compilePolicy = (version: number, policy: Policy): CompiledPolicy => ({
  version,
  rules: policy.rules.map(compileRule),
  default: completed(policy.default),
});

function compileRule(rule: PolicyRule): CompiledRule {
  const { id, then, require, idempotent = false, reason } = rule;
  const condition = rule.when === undefined ? undefined : conditionOf(rule.when);
  return {
    id,
    then,
    require: require && completed(require),
    idempotent,
    reason,
    matches: (input) => concerns(rule, input) && (condition === undefined || condition(input)),
  };
}

function conditionOf(when: string): Condition {
  try {
    return compileCondition(when);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return () => {
      throw error;
    };
  }
}

const concerns = ({ tools, servers, agents }: PolicyRule, { tool, server, agent }: ConditionInput): boolean =>
  isAmong(tools, tool) && isAmong(servers, server) && isAmong(agents, agent.id);
