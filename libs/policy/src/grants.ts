import { LRUCache } from 'lru-cache';
import { digestOf } from '#contracts/canonical';
import type { Remember } from '#contracts/grants/commands';
import type { GrantIssued, GrantScope } from '#contracts/grants/events';
import { later, type Instant } from '#contracts/ids';
import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import { NEW_APPROVAL } from '#fold/approval';
import type { KnownTurn } from '#fold/turn';
import { compileCondition, type Condition } from './condition.js';
import { ConditionFailed } from './condition-input.js';
import { mayNotDecide } from './may-decide.js';
import type { Person } from './person.js';
import { inputOf, type Ruling } from './ruling.js';

/** What a grant allows, and who says so. */
export interface Allowing extends Pick<GrantIssued, 'scope' | 'schemaDigest'>, Pick<Person, 'groups'> {
  readonly by: string;
}

const MONTH = 2_592_000;

/** For how long, and how often: what is not said is a month, and a thousand times. */
export const boundsOf = (
  { expiresInSeconds = MONTH, maxUses = 1_000 }: Remember,
  from: Instant,
): Pick<GrantIssued, 'expiresAt' | 'maxUses'> => ({ expiresAt: later(from, expiresInSeconds), maxUses });

/** A call that may need nobody. */
export interface AskedCall {
  readonly turn: KnownTurn;
  readonly call: RequestedToolCall;
  readonly ruling: Ruling;
}

/** Of what a tool says of itself: another schema or other annotations make it another tool. */
export const schemaDigestOf = ({
  inputSchema = {},
  annotations = {},
}: Pick<RequestedToolCall, 'inputSchema' | 'annotations'>): string => digestOf({ inputSchema, annotations });

/**
 * Whether a grant is about this call, and its grantor alone could have approved it: never what they asked for themselves,
 * never where the policy denies, asks more or others, or one of its rules fails.
 */
export function covers(grant: Allowing, { turn, call, ruling }: AskedCall): boolean {
  if (ruling.effect !== 'require' || ruling.failures.length > 0) return false;
  if (grant.schemaDigest !== schemaDigestOf(call)) return false;
  const grantor = { subject: grant.by, groups: grant.groups };
  if (mayNotDecide({ turn, ruling, approval: NEW_APPROVAL }, grantor, 'allow-others')) return false;
  return isInScope(grant.scope, turn.request, call);
}

type Request = Pick<ToolApprovalRequested, 'agent' | 'conversationId'>;

/** Where a condition can say neither yes nor no, somebody is asked. */
export function isInScope(scope: GrantScope, request: Request, call: RequestedToolCall): boolean {
  const { agent = request.agent.id, conversationId = request.conversationId, when } = scope;
  if (scope.tool !== call.toolName || scope.server !== call.server) return false;
  if (agent !== request.agent.id || conversationId !== request.conversationId) return false;
  return when === undefined || isTrue(when, inputOf(request, call));
}

/** Why the condition cannot be one of a grant. */
export function conditionError({ when }: GrantScope): string | undefined {
  if (when === undefined) return undefined;
  try {
    conditionOf(when);
    return undefined;
  } catch (error) {
    if (error instanceof ConditionFailed) return error.message;
    throw error;
  }
}

function isTrue(when: string, input: Parameters<Condition>[0]): boolean {
  try {
    return conditionOf(when)(input);
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

const compiled = new LRUCache<string, Condition>({ max: 1_000 });

function conditionOf(when: string): Condition {
  const known = compiled.get(when);
  if (known) return known;
  const condition = compileCondition(when);
  compiled.set(when, condition);
  return condition;
}
