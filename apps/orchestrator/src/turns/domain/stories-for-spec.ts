import { expect } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import {
  approvalIdOf,
  later,
  turnKeyOf,
  type ApprovalId,
  type Instant,
  type LeaseKey,
  type Tenant,
  type TokenId,
} from '#contracts/ids';
import type { PolicyRule } from '#contracts/policies/policy';
import type { Caller } from '#contracts/roles';
import { subjectOf } from '#contracts/subjects';
import type { ToolApprovalRequested } from '#contracts/turns/events';
import { answered } from '#decider/given-when-then';
import type { Rule } from '#event-log/handle-command';
import { matches } from '#event-log/memory-log';
import type { FactReader } from '#fold/read';
import { BEFORE_ANY_POLICY, hashOfPolicy, ONE_APPROVER } from '#policy/compiled';
import { PoliciesInForce } from '#policy/in-force';
import { ruleOn } from '#policy/ruling';

const APPLIED = ruleOn(
  BEFORE_ANY_POLICY,
  { agent: { id: 'a' }, conversationId: 'c' },
  { toolName: 't', args: {} },
).applied;

export const TENANT = 'default' as Tenant;
export const TURN = turnKeyOf(TENANT, 'conv', 't-1');
export const CALLS: readonly [ApprovalId, ApprovalId, ApprovalId] = [
  approvalIdOf(TURN, 0),
  approvalIdOf(TURN, 1),
  approvalIdOf(TURN, 2),
];
export const NOON = '2026-01-01T12:00:00.000Z' as Instant;
export const at = (seconds: number): Instant => later(NOON, seconds);
export const TOKEN = 'tk_worker' as TokenId;
const DIGEST = digestOf({});

export interface Told {
  readonly event: HoldpointEvent;
  readonly by: string;
  readonly at: Instant;
}
export const told = (event: HoldpointEvent, seconds: number, by = 'worker'): Told => ({ event, by, at: at(seconds) });

export const requestOf = (more: Partial<ToolApprovalRequested> = {}): ToolApprovalRequested => ({
  turnKey: TURN,
  conversationId: 'conv',
  turnId: 't-1',
  agent: { id: 'billing' },
  release: 'all',
  pool: 'default',
  toolCalls: CALLS.map((_, n) => ({ toolCallId: `c${n}`, toolName: 'pay', args: {}, argsDigest: DIGEST })),
  digest: DIGEST,
  tokenId: TOKEN,
  ...more,
});
/** The version in force for what is requested after it. */
export const published = (rules: readonly PolicyRule[], version = 1): Told => {
  const policy = { rules: [...rules], default: ONE_APPROVER };
  return told({ type: 'PolicyPublished', data: { ...policy, version, hash: hashOfPolicy(policy) } }, 0, 'olga');
};
/** Lets what was asked for above run twice. */
export const AGAIN: PolicyRule = { id: 'again', tools: ['pay'], then: 'require', idempotent: true };

export const requested = (more: Partial<ToolApprovalRequested> = {}): Told =>
  told({ type: 'ToolApprovalRequested', data: requestOf(more) }, 0);

export const decided = (n: number, decision: 'approved' | 'denied' = 'approved'): Told => {
  const approvalId = CALLS[n] ?? CALLS[0];
  return told(
    {
      type: 'ToolApprovalDecided',
      data: { approvalId, decision, argsDigest: DIGEST, requirement: APPLIED, requestSeq: 1 },
    },
    10,
    'ada',
  );
};
export const allDecided: readonly Told[] = [decided(0), decided(1), decided(2, 'denied')];

export const lease = (key: LeaseKey, n: number, attempt: number, more: object = {}) => ({
  key,
  n,
  attempt,
  since: at(20),
  workerId: 'w-1',
  tokenId: TOKEN,
  ...more,
});
export const resumed = (key: LeaseKey = TURN, n = 1, attempt = 1, more: object = {}): Told =>
  told({ type: 'TurnResumed', data: { ...lease(key, n, attempt), leaseUntil: at(80), ...more } }, 20);
export const givenBack = (key: LeaseKey = TURN, n = 2, attempt = 1): Told =>
  told({ type: 'LeaseGivenBack', data: lease(key, n, attempt) }, 30);
export const used = (n: number, more: object = {}): Told =>
  told(
    {
      type: 'ToolExecutionStarted',
      data: {
        approvalId: CALLS[n] ?? CALLS[0],
        attempt: 1,
        workerId: 'w-1',
        tokenId: TOKEN,
        argsDigest: DIGEST,
        ...more,
      },
    },
    25,
  );
export const succeeded = (n: number, more: object = {}): Told =>
  told(
    { type: 'ToolExecutionSucceeded', data: { approvalId: CALLS[n] ?? CALLS[0], attempt: 1, result: 'done', ...more } },
    40,
  );
export const revoked = (n: number): Told =>
  told(
    { type: 'ToolApprovalRevoked', data: { approvalId: CALLS[n] ?? CALLS[0], reason: 'no', turnEnded: false } },
    22,
    'ada',
  );
export const lapsed = (n: number): Told =>
  told({ type: 'ToolApprovalLapsed', data: { approvalId: CALLS[n] ?? CALLS[0] } }, 22, 'timer');
export const ended = (
  status: 'completed' | 'failed' | 'cancelled' = 'completed',
  more: object = { attempt: 1 },
): Told => told({ type: 'TurnEnded', data: { turnKey: TURN, turnId: 't-1', status, ...more } }, 50);

export const callerOf = (subject = 'worker', more: Partial<Caller> = {}): Caller => ({
  tenant: TENANT,
  tokenId: TOKEN,
  subject,
  roles: ['agent'],
  groups: [],
  ...more,
});
export const by = (seconds: number, more: Partial<Caller> = {}) => ({
  caller: callerOf(more.subject, more),
  now: at(seconds),
  leaseSeconds: 60,
});

export const recordedAt = ({ event, by: id, at: occurredAt }: Told, index: number): Recorded<HoldpointEvent> => ({
  eventId: `e-${index}`,
  occurredAt,
  correlationId: 'conv',
  causationId: 'test',
  actor: { kind: 'agent', id, via: 'test' },
  tenant: TENANT,
  subject: subjectOf(TENANT, event),
  event,
  seq: index + 1,
  storedAt: occurredAt,
});

export function readerOf(facts: readonly Told[]): FactReader {
  const all = facts.map(recordedAt);
  return {
    last: (filter) => Promise.resolve(all.findLast(({ subject }) => matches(filter, subject))),
    next: (filter, fromSeq) =>
      Promise.resolve(all.find(({ seq, subject }) => seq >= fromSeq && matches(filter, subject))),
  };
}

/** `given(facts).when(rule, command, context)`: what the rule says after it has read these facts, and nothing else. */
export const given = (...facts: readonly Told[]) => ({
  async when<Command, State, Context>(
    rule: Rule<Command, State, Context> | ((policies: PoliciesInForce) => Rule<Command, State, Context>),
    command: Command,
    context: Context & { now: Instant },
  ) {
    const log = readerOf(facts);
    const { read, decide } = typeof rule === 'function' ? rule(new PoliciesInForce(log)) : rule;
    const answer = decide(command, await read(log, TENANT, command), context);
    // What is awaited must have no `then` of its own.
    const { then, ...says } = answered(expect, answer);
    return { ...says, thenRecorded: (type: HoldpointEvent['type'], data: object = {}) => then({ type, data }) };
  },
});
