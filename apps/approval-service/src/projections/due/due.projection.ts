import type { ApprovalEscalated, ToolApprovalDecided } from '#contracts/approvals/events';
import type { Recorded } from '#contracts/envelope';
import { isSetting, type HoldpointEvent } from '#contracts/events';
import { approvalIdOf, later, type ApprovalId, type Instant } from '#contracts/ids';
import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import { unreachable } from '#decider/decider';
import { defineTable, type ChangeOf } from '#decider/projection';
import { usableUntil } from '#fold/usable';
import { policyAt, type Policies } from '#policy/in-force';
import { ruleOn } from '#policy/ruling';
import { escalatesAt, expiresAt } from '#policy/times';

export const due = defineTable({
  name: 'due',
  key: ['tenant', 'approval_id', 'what'],
  columns: { tenant: 'text', approval_id: 'text', what: 'text', at: 'timestamptz', seq: 'bigint' },
});
type Change = ChangeOf<typeof due>;
type Changes = readonly Change[];
/** `policy`: what it decides by itself should be in the log by then. */
export type Deadline = 'expiry' | 'lapse' | 'hold' | 'escalation' | 'policy';

/** Deadlines that still run: an undecided approval is escalated and expires, a hold ends, an approval that nobody uses lapses (design 4.7). */
export function projectDue(fact: Recorded<HoldpointEvent>, policies: Policies): Changes {
  const { event } = fact;
  if (isSetting(event)) return [];
  switch (event.type) {
    case 'ToolApprovalRequested':
      return event.data.toolCalls.flatMap((call, index) => asked(fact, event.data, { call, index }, policies));
    case 'ApprovalVoteCast':
    case 'ApprovalVoteWithdrawn':
      return [held(fact, event.data)];
    case 'ApprovalHoldEnded':
      return [isOver(fact, event.data.approvalId, 'hold')];
    case 'ApprovalEscalated':
      return escalates(fact, event.data);
    case 'ToolApprovalDecided':
      return decided(fact, event.data);
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
    case 'PolicyEvaluationFailed':
      return [];
    default:
      return unreachable(event);
  }
}

/** The reaction to the request does it at once; the sweep does what it left, as while all was frozen. */
const POLICY_WITHIN_SECONDS = 5;

interface Asked {
  readonly call: RequestedToolCall;
  readonly index: number;
}

function asked(fact: Recorded, request: ToolApprovalRequested, { call, index }: Asked, policies: Policies): Changes {
  const { effect, requirement } = ruleOn(policyAt(policies, fact.tenant, fact.seq), request, call);
  const id = approvalIdOf(request.turnKey, index);
  const expiry = begins(fact, id, 'expiry', expiresAt(requirement, request, fact.occurredAt));
  if (effect !== 'require') return [expiry, begins(fact, id, 'policy', later(fact.occurredAt, POLICY_WITHIN_SECONDS))];
  const first = escalatesAt(requirement, 0, fact.occurredAt);
  return first === undefined ? [expiry] : [expiry, begins(fact, id, 'escalation', first)];
}

const escalates = (fact: Recorded, data: ApprovalEscalated): Changes => {
  const { approvalId, nextAt, heldUntil } = data;
  const next =
    nextAt === undefined ? isOver(fact, approvalId, 'escalation') : begins(fact, approvalId, 'escalation', nextAt);
  return heldUntil === undefined ? [next] : [next, held(fact, data)];
};

const held = (
  fact: Recorded,
  { approvalId, heldUntil }: { readonly approvalId: ApprovalId; readonly heldUntil?: Instant },
): Change => (heldUntil === undefined ? isOver(fact, approvalId, 'hold') : begins(fact, approvalId, 'hold', heldUntil));

/** What runs until the decision. */
const UNDECIDED = ['expiry', 'hold', 'escalation', 'policy'] as const satisfies readonly Deadline[];

function decided(fact: Recorded, data: ToolApprovalDecided): Changes {
  const { approvalId, decision } = data;
  const over = UNDECIDED.map((what) => isOver(fact, approvalId, what));
  if (decision !== 'approved') return over;
  return [...over, begins(fact, approvalId, 'lapse', usableUntil({ ...data, at: fact.occurredAt }))];
}

const begins = ({ tenant, seq }: Recorded, approvalId: ApprovalId, what: Deadline, at: Instant): Change => ({
  kind: 'put',
  row: { tenant, approval_id: approvalId, what, at, seq },
});

const isOver = ({ tenant }: Recorded, approvalId: ApprovalId, what: Deadline): Change => ({
  kind: 'remove',
  key: { tenant, approval_id: approvalId, what },
});
