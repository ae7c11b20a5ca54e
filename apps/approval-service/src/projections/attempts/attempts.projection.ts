import type { Recorded } from '#contracts/envelope';
import { isSetting, type HoldpointEvent } from '#contracts/events';
import { turnKeyOfLease } from '#contracts/ids';
import { unreachable } from '#decider/decider';
import { defineTable, type ChangeOf, type Row } from '#decider/projection';
import type { LeaseEvent } from '#fold/lease';

/** Every taking of a continuation: who, since when, until when. */
export const attempts = defineTable({
  name: 'attempts',
  key: ['tenant', 'lease_key', 'attempt'],
  columns: {
    tenant: 'text',
    lease_key: 'text',
    attempt: 'integer',
    turn_key: 'text',
    worker_id: 'text',
    token_id: 'text',
    since: 'timestamptz',
    lease_until: 'timestamptz',
    given_back_at: 'timestamptz',
    seq: 'bigint',
  },
});
type Changes = readonly ChangeOf<typeof attempts>[];
type Columns = Omit<Row<typeof attempts>, 'tenant' | 'lease_key' | 'attempt' | 'seq'>;

export function projectAttempt(fact: Recorded<HoldpointEvent>): Changes {
  const { event } = fact;
  if (isSetting(event)) return [];
  switch (event.type) {
    case 'TurnResumed': {
      const { key, workerId, tokenId, since, leaseUntil } = event.data;
      const taken = { turn_key: turnKeyOfLease(key), worker_id: workerId, token_id: tokenId, since };
      return put(fact, event, { ...taken, lease_until: leaseUntil });
    }
    case 'LeaseExtended':
      return put(fact, event, { lease_until: event.data.leaseUntil });
    case 'LeaseGivenBack':
      return put(fact, event, { given_back_at: fact.occurredAt });
    case 'ToolApprovalRequested':
    case 'TurnEnded':
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

const put = ({ tenant, seq }: Recorded, { data }: LeaseEvent, columns: Columns): Changes => [
  { kind: 'put', row: { tenant, lease_key: data.key, attempt: data.attempt, ...columns, seq } },
];
