import { canonicalJson } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import { isSetting, type HoldpointEvent } from '#contracts/events';
import { isApprovalId } from '#contracts/ids';
import { unreachable } from '#decider/decider';
import { defineTable, type ChangeOf, type Row } from '#decider/projection';
import { leaseColumns } from '../lease-columns.js';

export const turns = defineTable({
  name: 'turns',
  key: ['tenant', 'turn_key'],
  columns: {
    tenant: 'text',
    turn_key: 'text',
    conversation_id: 'text',
    turn_id: 'text',
    agent: 'text',
    on_behalf_of: 'text',
    owner: 'text',
    release: 'text',
    pool: 'text',
    calls: 'integer',
    supersedes: 'text',
    requested_at: 'timestamptz',
    requested_by: 'text',
    request_seq: 'bigint',
    lease_state: 'text',
    lease_attempt: 'integer',
    lease_worker_id: 'text',
    lease_since: 'timestamptz',
    lease_until: 'timestamptz',
    ended_as: 'text',
    ended_at: 'timestamptz',
    ended_by: 'text',
    end_reason: 'json',
    superseded_by: 'text',
    seq: 'bigint',
  },
});
type TurnChanges = readonly ChangeOf<typeof turns>[];

/** What is known of a turn. Whether it is `ready` depends on the time and on its approvals: the query says. */
export function projectTurn(fact: Recorded<HoldpointEvent>): TurnChanges {
  const { event } = fact;
  if (isSetting(event)) return [];
  switch (event.type) {
    case 'ToolApprovalRequested':
      return put(fact, event.data.turnKey, requested(fact, event.data));
    case 'TurnResumed':
    case 'LeaseExtended':
    case 'LeaseGivenBack':
      return isApprovalId(event.data.key) ? [] : put(fact, event.data.key, leaseColumns(event, fact));
    case 'TurnEnded':
      return put(fact, event.data.turnKey, ended(fact, event.data));
    case 'ToolExecutionSucceeded':
    case 'ToolExecutionFailed':
    case 'ToolApprovalDecided':
    case 'ToolExecutionStarted':
    case 'ToolApprovalRevoked':
    case 'ToolApprovalLapsed':
    case 'ApprovalVoteCast':
    case 'ApprovalVoteWithdrawn':
    case 'ApprovalEscalated':
    case 'ApprovalHoldEnded':
    case 'PolicyEvaluationFailed':
    case 'DecisionRefused':
      return [];
    default:
      return unreachable(event);
  }
}

type Columns = Omit<Row<typeof turns>, 'tenant' | 'turn_key' | 'seq'>;
type DataOf<Type extends HoldpointEvent['type']> = Extract<HoldpointEvent, { type: Type }>['data'];

const put = ({ tenant, seq }: Recorded, turnKey: string, columns: Columns): TurnChanges => [
  { kind: 'put', row: { tenant, turn_key: turnKey, ...columns, seq } },
];

const requested = ({ actor, occurredAt, seq }: Recorded, data: DataOf<'ToolApprovalRequested'>): Columns => ({
  conversation_id: data.conversationId,
  turn_id: data.turnId,
  agent: data.agent.id,
  on_behalf_of: data.agent.onBehalfOf,
  owner: data.owner,
  release: data.release,
  pool: data.pool,
  calls: data.toolCalls.length,
  supersedes: data.supersedes,
  requested_at: occurredAt,
  requested_by: actor.id,
  request_seq: seq,
});

const ended = ({ actor, occurredAt }: Recorded, data: DataOf<'TurnEnded'>): Columns => ({
  ended_as: data.status,
  ended_at: occurredAt,
  ended_by: actor.id,
  end_reason: data.reason === undefined ? undefined : canonicalJson(data.reason),
  superseded_by: data.supersededBy,
});
