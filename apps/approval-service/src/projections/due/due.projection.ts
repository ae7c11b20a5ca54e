import type { ToolApprovalDecided } from '#contracts/approvals/events';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, later, type ApprovalId, type Instant } from '#contracts/ids';
import { unreachable } from '#decider/decider';
import { defineTable, type ChangeOf } from '#decider/projection';
import { expiresAt, USE_WITHIN_SECONDS } from '#fold/requirement';

export const due = defineTable({
  name: 'due',
  key: ['tenant', 'approval_id', 'what'],
  columns: { tenant: 'text', approval_id: 'text', what: 'text', at: 'timestamptz', seq: 'bigint' },
});
type Changes = readonly ChangeOf<typeof due>[];
type Deadline = 'expiry' | 'lapse';

/** Deadlines that still run: an undecided approval expires, an approved one that nobody uses lapses (design 4.7). */
export function projectDue(fact: Recorded<HoldpointEvent>): Changes {
  const { event, occurredAt } = fact;
  switch (event.type) {
    case 'ToolApprovalRequested':
      return event.data.toolCalls.map((_, index) =>
        begins(fact, approvalIdOf(event.data.turnKey, index), 'expiry', expiresAt(event.data, occurredAt)),
      );
    case 'ToolApprovalDecided':
      return [isOver(fact, event.data.approvalId, 'expiry'), ...lapseOf(fact, event.data)];
    case 'ToolExecutionStarted':
    case 'ToolApprovalRevoked':
    case 'ToolApprovalLapsed':
      return [isOver(fact, event.data.approvalId, 'lapse')];
    case 'TurnResumed':
    case 'LeaseExtended':
    case 'LeaseGivenBack':
    case 'TurnEnded':
    case 'ToolExecutionSucceeded':
    case 'ToolExecutionFailed':
    case 'DecisionRefused':
    case 'TokenIssued':
    case 'TokenRevoked':
    case 'LogOpened':
      return [];
    default:
      return unreachable(event);
  }
}

const lapseOf = (fact: Recorded, { decision, approvalId }: ToolApprovalDecided): Changes =>
  decision === 'approved' ? [begins(fact, approvalId, 'lapse', later(fact.occurredAt, USE_WITHIN_SECONDS))] : [];

const begins = ({ tenant, seq }: Recorded, approvalId: ApprovalId, what: Deadline, at: Instant): Changes[number] => ({
  kind: 'put',
  row: { tenant, approval_id: approvalId, what, at, seq },
});

const isOver = ({ tenant }: Recorded, approvalId: ApprovalId, what: Deadline): Changes[number] => ({
  kind: 'remove',
  key: { tenant, approval_id: approvalId, what },
});
