import type { AppliedRequirement } from '#contracts/approvals/events';
import { digestOf } from '#contracts/canonical';
import type { Effect } from '#contracts/policies/policy';
import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import type { CompiledPolicy, CompiledRule } from './compiled.js';
import { ConditionFailed, type ConditionInput } from './condition-input.js';
import { joined, type FullRequirement } from './join.js';

/** Raised when the same policy and request could come out differently. */
const ENGINE_VERSION = '1';

/** What the policy says of one call. */
export interface Ruling {
  readonly effect: Effect;
  /** Who must be asked where people decide: what the rules require together, else the default. */
  readonly requirement: FullRequirement;
  /** The rules that made it so; none where it is the default. */
  readonly rules: readonly string[];
  readonly reason: string | undefined;
  /** Rules that could not say whether they match: then a person decides. */
  readonly failures: readonly RuleFailure[];
  /** Every rule that is about the call says that it may run twice, and none failed. */
  readonly idempotent: boolean;
  /** Which policy and engine said it, and the digest of what they said. */
  readonly applied: AppliedRequirement;
}

export interface RuleFailure {
  readonly rule: string;
  readonly message: string;
}

type About = Pick<ToolApprovalRequested, 'agent' | 'conversationId'>;
type Call = Pick<RequestedToolCall, 'toolName' | 'server' | 'args' | 'annotations'>;

/**
 * A pure function of policy and request: every matching rule counts; deny beats require beats approve, all requires hold
 * together. Where a rule fails, nothing is approved: a person decides by the default and by whatever else is required.
 */
export function ruleOn(policy: CompiledPolicy, request: About, call: Call): Ruling {
  const { matching, failures } = ask(policy.rules, inputOf(request, call));
  const said = strictest(policy, matching, failures.length > 0);
  const hashed = said.effect === 'require' ? said.requirement : { effect: said.effect, requirement: said.requirement };
  return {
    ...said,
    reason: matching.find(({ id, reason }) => said.rules.includes(id) && reason !== undefined)?.reason,
    failures,
    idempotent: failures.length === 0 && matching.length > 0 && matching.every(({ idempotent }) => idempotent),
    applied: { policyVersion: policy.version, engineVersion: ENGINE_VERSION, hash: digestOf(hashed) },
  };
}

export const inputOf = ({ agent, conversationId }: About, call: Call): ConditionInput => ({
  args: call.args,
  tool: call.toolName,
  server: call.server ?? '',
  agent: { id: agent.id, path: agent.path ?? [], onBehalfOf: agent.onBehalfOf ?? '' },
  conversation: { id: conversationId },
  annotations: call.annotations ?? {},
});

function ask(rules: readonly CompiledRule[], input: ConditionInput) {
  const matching: CompiledRule[] = [];
  const failures: RuleFailure[] = [];
  for (const rule of rules)
    try {
      if (rule.matches(input)) matching.push(rule);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      failures.push({ rule: rule.id, message: error.message.slice(0, 500) });
    }
  return { matching, failures };
}

type Said = Pick<Ruling, 'effect' | 'requirement' | 'rules'>;

function strictest(policy: CompiledPolicy, matching: readonly CompiledRule[], failed: boolean): Said {
  const having = (effect: Effect) => matching.filter(({ then }) => then === effect);
  const ids = (rules: readonly CompiledRule[]) => rules.map(({ id }) => id);
  const [denying, requiring, approving] = [having('deny'), having('require'), having('approve')];
  const otherwise = policy.default;
  // Where a rule failed, time does not approve either.
  const asked = failed ? [{ ...otherwise, onExpiry: 'deny' as const }] : [];
  if (denying.length > 0) return { effect: 'deny', requirement: otherwise, rules: ids(denying) };
  const [first, ...more] = [...asked, ...requiring.map(({ require }) => require ?? otherwise)];
  if (first) return { effect: 'require', requirement: joined([first, ...more]), rules: ids(requiring) };
  if (approving.length > 0) return { effect: 'approve', requirement: otherwise, rules: ids(approving) };
  return { effect: 'require', requirement: otherwise, rules: [] };
}
