import { digestOf } from '#contracts/canonical';
import type { ContinuationCommand } from '#contracts/continuations/events';
import type { Fact } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import {
  approvalIdOf,
  instant,
  turnKeyOf,
  type ApprovalId,
  type LeaseKey,
  type Tenant,
  type TokenId,
  type TurnKey,
} from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import type { PolicyRule } from '#contracts/policies/policy';
import { subjectOf } from '#contracts/subjects';
import type { DecisionKind } from '#contracts/approvals/events';
import type { Release, ToolApprovalRequested } from '#contracts/turns/events';
import { MemoryLog } from '#event-log/memory-log';
import { readWholeTurn } from '#fold/read';
import { hashOfPolicy, ONE_APPROVER } from '#policy/compiled';
import { PoliciesInForce } from '#policy/in-force';

export const TENANT = 'acme' as Tenant;
export const TOKEN = 'tk_aaaaaaaaaaaaaaaaaaaaaaaaaa' as TokenId;
export const OTHER_TOKEN = 'tk_bbbbbbbbbbbbbbbbbbbbbbbbbb' as TokenId;
export const TURN_KEY = turnKeyOf(TENANT, 'conv-1', 't-1');
export const START = Date.parse('2026-01-01T00:00:00.000Z');
export const at = (seconds: number) => instant(START + seconds * 1_000);
export const call = (index: number): ApprovalId => approvalIdOf(TURN_KEY, index);

export const worker = (more: Partial<Caller> = {}): Caller => ({
  tenant: TENANT,
  tokenId: TOKEN,
  subject: 'agent-1',
  roles: ['agent'],
  groups: [],
  ...more,
});

export interface Asked {
  readonly release?: Release;
  readonly calls?: number;
  readonly holder?: { readonly workerId: string; readonly graceSeconds: number };
}

/** The policy in force for what is requested after it. */
export const published = (rules: readonly PolicyRule[], version = 1): HoldpointEvent => {
  const policy = { rules: [...rules], default: ONE_APPROVER };
  return { type: 'PolicyPublished', data: { ...policy, version, hash: hashOfPolicy(policy) } };
};
export const AGAIN: PolicyRule = { id: 'again', tools: ['send_*'], then: 'require', idempotent: true };

export const requested = ({ release = 'all', calls = 1, holder }: Asked = {}): HoldpointEvent => ({
  type: 'ToolApprovalRequested',
  data: {
    turnKey: TURN_KEY,
    conversationId: 'conv-1',
    turnId: 't-1',
    agent: { id: 'billing-agent' },
    release,
    pool: 'default',
    toolCalls: Array.from({ length: calls }, (_, index) => toolCall(index)),
    digest: digestOf({}),
    tokenId: TOKEN,
    ...(holder ? { holder } : {}),
  } satisfies ToolApprovalRequested,
});

const toolCall = (index: number) => ({
  toolCallId: `call_${index}`,
  toolName: 'send_email',
  server: 'gmail',
  args: { to: index },
  argsDigest: digestOf({ to: index }),
});

export const decided = (index: number, decision: DecisionKind = 'approved', reason?: string): HoldpointEvent => ({
  type: 'ToolApprovalDecided',
  data: {
    approvalId: call(index),
    decision,
    argsDigest: digestOf({ to: index }),
    requirement: { policyVersion: 0, engineVersion: '1', hash: digestOf({}) },
    requestSeq: 1,
    ...(reason === undefined ? {} : { reason }),
  },
});

export interface Taking {
  readonly key?: LeaseKey;
  readonly n?: number;
  readonly attempt?: number;
  readonly from?: number;
  readonly until?: number;
}
const lease = ({ key = TURN_KEY, n = 1, attempt = 1, from = 0 }: Taking) => ({
  key,
  n,
  attempt,
  since: at(from),
  workerId: 'w-1',
  tokenId: TOKEN,
});
export const resumed = (taking: Taking = {}): HoldpointEvent => ({
  type: 'TurnResumed',
  data: { ...lease(taking), leaseUntil: at(taking.until ?? 60) },
});
export const givenBack = (taking: Taking = {}): HoldpointEvent => ({ type: 'LeaseGivenBack', data: lease(taking) });

export const started = (index: number): HoldpointEvent => ({
  type: 'ToolExecutionStarted',
  data: { approvalId: call(index), attempt: 1, workerId: 'w-1', tokenId: TOKEN, argsDigest: digestOf({ to: index }) },
});
export const revoked = (index: number): HoldpointEvent => ({
  type: 'ToolApprovalRevoked',
  data: { approvalId: call(index), reason: 'changed my mind', turnEnded: false },
});
export const lapsed = (index: number): HoldpointEvent => ({
  type: 'ToolApprovalLapsed',
  data: { approvalId: call(index) },
});
export const succeeded = (index: number, settledBecause?: string): HoldpointEvent => ({
  type: 'ToolExecutionSucceeded',
  data: { approvalId: call(index), attempt: 1, result: { sent: index }, ...(settledBecause ? { settledBecause } : {}) },
});
export const failed = (index: number): HoldpointEvent => ({
  type: 'ToolExecutionFailed',
  data: { approvalId: call(index), attempt: 1, error: 'no route' },
});
export const ended = (status: 'completed' | 'failed' | 'cancelled' = 'completed'): HoldpointEvent => ({
  type: 'TurnEnded',
  data: { turnKey: TURN_KEY, turnId: 't-1', status },
});

export const factOf = (event: HoldpointEvent, seconds = 0): Fact<HoldpointEvent> => ({
  tenant: TENANT,
  subject: subjectOf(TENANT, event),
  event,
  eventId: `ev_${subjectOf(TENANT, event)}`.slice(0, 64),
  occurredAt: at(seconds),
  correlationId: 'conv-1',
  causationId: 'test',
  actor: { kind: 'person', id: 'ada@example.com', via: 'test' },
});

/** A log that was told some facts, and a stream for the commands that follow from them. */
export async function logOf(...events: readonly HoldpointEvent[]) {
  const log = new MemoryLog();
  for (const event of events) await log.append(factOf(event));
  const turns = { asOf: (tenant: Tenant, turnKey: TurnKey) => readWholeTurn(log, tenant, turnKey) };
  const policies = new PoliciesInForce(log);
  return { events: log, policies, commands: new MemoryLog<ContinuationCommand>(), turns, clock: () => START };
}
