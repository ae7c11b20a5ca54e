import { canonicalJson } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import { isSetting, type HoldpointEvent } from '#contracts/events';
import { approvalIdOf, instant, isApprovalId } from '#contracts/ids';
import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import { unreachable } from '#decider/decider';
import type { ChangeOf, Row } from '#decider/projection';
import { policyAt, type Policies } from '#policy/in-force';
import { ruleOn, type Ruling } from '#policy/ruling';
import { expiresAt } from '#policy/times';
import { leaseColumns } from '../lease-columns.js';
import type { approvals } from './approvals.table.js';

type Changes = readonly ChangeOf<typeof approvals>[];
type Columns = Omit<Row<typeof approvals>, 'tenant' | 'approval_id' | 'seq'>;
type DataOf<Type extends HoldpointEvent['type']> = Extract<HoldpointEvent, { type: Type }>['data'];

/** What is known of each call. Whether one that began is `executing` or `in-doubt` depends on the time: the query says. */
export function projectApproval(fact: Recorded<HoldpointEvent>, policies: Policies): Changes {
  const { event } = fact;
  if (isSetting(event)) return [];
  switch (event.type) {
    case 'ToolApprovalRequested':
      return event.data.toolCalls.flatMap((call, index) =>
        put(fact, approvalIdOf(event.data.turnKey, index), {
          ...request(fact, event.data),
          ...asked(event.data, call, index),
          ...required(fact, event.data, ruleOn(policyAt(policies, fact.tenant, fact.seq), event.data, call)),
        }),
      );
    case 'ApprovalVoteCast':
    case 'ApprovalVoteWithdrawn':
      return put(fact, event.data.approvalId, { held_until: event.data.heldUntil ?? NOT_HELD });
    case 'ApprovalEscalated':
      return put(fact, event.data.approvalId, heldBy(event.data));
    case 'ApprovalHoldEnded':
      return put(fact, event.data.approvalId, {});
    case 'ToolApprovalDecided':
      return put(fact, event.data.approvalId, decided(fact, event.data));
    case 'ToolExecutionStarted':
    case 'ToolApprovalRevoked':
    case 'ToolApprovalLapsed':
      return put(fact, event.data.approvalId, { used_at: fact.occurredAt, used_by: fact.actor.id, ...used(event) });
    case 'ToolExecutionSucceeded':
    case 'ToolExecutionFailed':
      return put(fact, event.data.approvalId, outcome(fact, event));
    case 'TurnResumed':
    case 'LeaseExtended':
    case 'LeaseGivenBack':
      return isApprovalId(event.data.key) ? put(fact, event.data.key, leaseColumns(event, fact)) : [];
    case 'PolicyEvaluationFailed':
    case 'DecisionRefused':
    case 'TurnEnded':
      return [];
    default:
      return unreachable(event);
  }
}

const put = ({ tenant, seq }: Recorded, approvalId: string, columns: Columns): Changes => [
  { kind: 'put', row: { tenant, approval_id: approvalId, ...columns, seq } },
];
const json = (value: unknown): string | undefined => (value === undefined ? undefined : canonicalJson(value));

const request = ({ actor, occurredAt, seq }: Recorded, data: ToolApprovalRequested): Columns => ({
  turn_key: data.turnKey,
  conversation_id: data.conversationId,
  turn_id: data.turnId,
  agent: data.agent.id,
  release: data.release,
  pool: data.pool,
  requested_at: occurredAt,
  requested_by: actor.id,
  request_seq: seq,
});

const required = ({ occurredAt }: Recorded, data: ToolApprovalRequested, { requirement }: Ruling): Columns => ({
  expires_at: expiresAt(requirement, data, occurredAt),
});

const heldBy = ({ heldUntil }: DataOf<'ApprovalEscalated'>): Columns =>
  heldUntil === undefined ? {} : { held_until: heldUntil };

/** A column that was set is not set back to nothing: long ago is as good. */
const NOT_HELD = instant(0);

function asked(data: ToolApprovalRequested, call: RequestedToolCall, index: number): Columns {
  const ids = [approvalIdOf(data.turnKey, index), data.turnId, data.conversationId, call.toolCallId];
  return {
    call_index: index,
    tool_call_id: call.toolCallId,
    tool_name: call.toolName,
    server: call.server,
    args: canonicalJson(call.args),
    args_digest: call.argsDigest,
    description: json(call.description),
    search: [call.toolName, call.server ?? '', data.agent.id, ...ids].join('\n').toLowerCase(),
  };
}

const decided = ({ actor, occurredAt, seq }: Recorded, data: DataOf<'ToolApprovalDecided'>): Columns => ({
  decision: data.decision,
  decided_at: occurredAt,
  decided_by: actor.id,
  decided_by_kind: actor.kind,
  decision_reason: json(data.reason),
  decision_seq: seq,
  edited_args: json(data.editedArgs),
  grant_id: data.grant?.grantId,
});

type UseEvent = Extract<
  HoldpointEvent,
  { type: 'ToolExecutionStarted' | 'ToolApprovalRevoked' | 'ToolApprovalLapsed' }
>;
type OutcomeEvent = Extract<HoldpointEvent, { type: 'ToolExecutionSucceeded' | 'ToolExecutionFailed' }>;

function used(event: UseEvent): Columns {
  switch (event.type) {
    case 'ToolExecutionStarted':
      return { use_is: 'started', use_attempt: event.data.attempt, use_worker_id: event.data.workerId };
    case 'ToolApprovalRevoked':
      return { use_is: 'revoked', revoke_reason: json(event.data.reason) };
    case 'ToolApprovalLapsed':
      return { use_is: 'lapsed' };
    default:
      return unreachable(event);
  }
}

const outcome = ({ actor, occurredAt }: Recorded, { type, data }: OutcomeEvent): Columns => ({
  outcome_ok: type === 'ToolExecutionSucceeded',
  outcome_at: occurredAt,
  outcome_by: actor.id,
  outcome_settled: data.settledBecause !== undefined,
  duration_ms: data.durationMs,
});
