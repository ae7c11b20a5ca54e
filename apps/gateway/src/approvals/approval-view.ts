import { indexOfApproval, type ApprovalId, type Instant } from '#contracts/ids';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { ApprovalStatus } from '#contracts/statuses';
import type { Agent } from '#contracts/turns/events';
import type { Approval, Decision, Outcome, Step, Use } from '#fold/approval';
import { usableUntil } from '#fold/usable';
import type { CompiledPolicy } from '#policy/compiled';
import { schemaDigestOf } from '#policy/grants';
import { ruleOn, type Ruling } from '#policy/ruling';
import { expiresAt } from '#policy/times';
import { approvalStatus } from '#fold/status';
import type { KnownTurn } from '#fold/turn';

/** Contract section 4: one approval, as the log has it now. */
export interface ApprovalView {
  readonly approvalId: ApprovalId;
  readonly turnId: string;
  readonly conversationId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly server: string | null;
  readonly agent: Agent;
  readonly args: Record<string, unknown>;
  readonly argsDigest: string;
  /** What a grant for this tool is bound to. */
  readonly schemaDigest: string;
  readonly status: ApprovalStatus;
  readonly requirement: object;
  readonly steps: readonly object[];
  readonly decision?: object;
  readonly use?: object;
  readonly outcome?: object;
  readonly requestedBy: string;
  readonly requestedAt: Instant;
  readonly expiresAt: Instant;
  readonly lapsesAt?: Instant;
  readonly seq: number;
}

export interface Judged {
  readonly turn: KnownTurn;
  readonly approval: Approval;
  /** In force when it was asked. */
  readonly policy: CompiledPolicy;
}

export function approvalView(id: ApprovalId, { turn, approval, policy }: Judged, now: Instant): ApprovalView {
  const { request, requestedAt, requestedBy } = turn;
  const { turnId, conversationId, agent, context } = request;
  const call = request.toolCalls[indexOfApproval(id)];
  if (!call) throw new Error(`${id} is not a call of its turn`);
  const ruling = ruleOn(policy, request, call);
  return {
    approvalId: id,
    turnId,
    conversationId,
    ...call,
    server: call.server ?? null,
    schemaDigest: schemaDigestOf(call),
    agent,
    ...(context === undefined ? {} : { context }),
    status: approvalStatus(turn, approval, now),
    requirement: requirementView(ruling),
    steps: approval.steps.map(stepView),
    ...closings(approval),
    requestedBy,
    requestedAt,
    expiresAt: expiresAt(ruling.requirement, request, requestedAt),
    seq: Math.max(turn.seq, approval.seq),
  };
}

/** What is required, by which rules of which policy. */
const requirementView = ({ effect, requirement, rules, reason, failures, applied }: Ruling): object => ({
  ...requirement,
  ...applied,
  effect,
  rules,
  ...(reason === undefined ? {} : { reason }),
  ...(failures.length === 0 ? {} : { failures }),
});

function stepView({ is, eventId: _, ...rest }: Step): object {
  const { requirement: __, requestSeq: ___, ...shown } = { requirement: undefined, requestSeq: undefined, ...rest };
  return { step: is, ...shown };
}

function closings({ decision, use, outcome }: Approval): object {
  return {
    ...(decision ? { decision: decisionView(decision) } : {}),
    ...(decision?.is === 'approved' && !use ? { lapsesAt: usableUntil(decision) } : {}),
    ...(use ? { use: useView(use) } : {}),
    ...(outcome ? { outcome: outcomeView(outcome) } : {}),
  };
}

const decisionView = ({ is, eventId: _, usableUntil: __, ...rest }: Decision): object => ({ decision: is, ...rest });
const outcomeView = ({ eventId: _, ...rest }: Outcome): object => rest;

function useView(use: Use): object {
  const { eventId: _, ...rest } = use;
  return rest;
}

/** One fact as people read it. */
export interface HistoryEntry {
  readonly seq: number;
  readonly type: string;
  readonly at: Instant;
  readonly actor: object;
  readonly data: object;
}

export const historyEntry = ({ seq, event, occurredAt, actor }: Recorded<HoldpointEvent>): HistoryEntry => ({
  seq,
  type: event.type,
  at: occurredAt,
  actor,
  data: event.data,
});
