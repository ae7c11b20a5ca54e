import { expect } from '@jest/globals';
import type { DecisionKind, ToolApprovalDecided } from '#contracts/approvals/events';
import { digestOf } from '#contracts/canonical';
import type { ActorKind, Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, later, turnKeyOf, type Instant, type Tenant, type TokenId } from '#contracts/ids';
import type { PolicyRule, Requirement } from '#contracts/policies/policy';
import type { Reason, Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { placeOf, subjectOf } from '#contracts/subjects';
import type { RequestedToolCall, ToolApprovalRequested, TurnEnded } from '#contracts/turns/events';
import type { Answer } from '#decider/decider';
import { answered } from '#decider/given-when-then';
import { evolveApproval, NEW_APPROVAL } from '#fold/approval';
import { evolveFreezes, NOTHING_FROZEN } from '#fold/freezes';
import { evolveTurn, UNKNOWN_TURN } from '#fold/turn';
import { BEFORE_ANY_POLICY } from '#policy/compiled';
import { evolvePolicies, NO_POLICIES, policyAt } from '#policy/in-force';
import { ruleOn } from '#policy/ruling';
import type { ByCaller, CallState } from './call.js';

export const TENANT = 'default' as Tenant;
export const TURN_KEY = turnKeyOf(TENANT, 'conv-1', 't-1');
export const CALL = approvalIdOf(TURN_KEY, 0);
export const NOON = '2026-03-01T12:00:00.000Z' as Instant;
export const DAY = 86_400;
export const after = (seconds: number): Instant => later(NOON, seconds);
export const ARGS = { amount: 10, to: 'x@example.com' };
export const DIGEST = digestOf(ARGS);
export const WORKER_TOKEN = 'tk_worker' as TokenId;

/** A fact about the one call of the one turn that these stories are about. */
export interface Told {
  readonly event: HoldpointEvent;
  readonly by: string;
  readonly kind: ActorKind;
  readonly at: Instant;
}

const told = (event: HoldpointEvent, by: string, kind: ActorKind, at: Instant): Told => ({ event, by, kind, at });

export const requestOf = (
  over: Partial<ToolApprovalRequested> = {},
  call: Partial<RequestedToolCall> = {},
): ToolApprovalRequested => ({
  turnKey: TURN_KEY,
  conversationId: 'conv-1',
  turnId: 't-1',
  agent: { id: 'billing-agent' },
  release: 'all',
  pool: 'default',
  toolCalls: [{ toolCallId: 'call_1', toolName: 'pay', args: ARGS, argsDigest: DIGEST, ...call }],
  digest: DIGEST,
  tokenId: WORKER_TOKEN,
  ...over,
});

/** What the default says of it. */
export const DEFAULT_APPLIED = ruleOn(BEFORE_ANY_POLICY, requestOf(), { toolName: 'pay', args: ARGS }).applied;

/** The version in force for what is requested after it. */
export const published = (otherwise: Requirement, rules: readonly PolicyRule[] = []): Told =>
  told(
    {
      type: 'PolicyPublished',
      data: { version: 1, hash: digestOf({ rules, otherwise }), rules: [...rules], default: otherwise },
    },
    'olga',
    'person',
    NOON,
  );

export const requested = (over: Partial<ToolApprovalRequested> = {}, call: Partial<RequestedToolCall> = {}): Told =>
  told({ type: 'ToolApprovalRequested', data: requestOf(over, call) }, 'demo-agent', 'agent', NOON);

export const decided = (
  decision: DecisionKind,
  by = 'ada',
  more: Partial<ToolApprovalDecided> = {},
  kind: ActorKind = 'person',
): Told =>
  told(
    {
      type: 'ToolApprovalDecided',
      data: {
        approvalId: CALL,
        decision,
        argsDigest: DIGEST,
        requirement: DEFAULT_APPLIED,
        requestSeq: 1,
        ...more,
      },
    },
    by,
    kind,
    after(60),
  );
export const approved = decided('approved');
export const expired = decided('expired', 'approval-service', {}, 'timer');

export const escalated: Told = told(
  { type: 'ApprovalEscalated', data: { approvalId: CALL, n: 1, stage: 1, because: 'time' } },
  'approval-service',
  'timer',
  after(60),
);

export const ended = (status: TurnEnded['status'] = 'cancelled', reason?: string): Told =>
  told(
    {
      type: 'TurnEnded',
      data: { turnKey: TURN_KEY, turnId: 't-1', status, ...(reason === undefined ? {} : { reason }) },
    },
    'demo-agent',
    'agent',
    after(90),
  );

const leased = (key: typeof CALL | typeof TURN_KEY) => ({
  key,
  n: 1,
  attempt: 1,
  since: after(70),
  workerId: 'w-1',
  tokenId: WORKER_TOKEN,
});
export const resumed = (key: typeof CALL | typeof TURN_KEY = TURN_KEY): Told =>
  told({ type: 'TurnResumed', data: { ...leased(key), leaseUntil: after(130) } }, 'demo-agent', 'agent', after(70));
/** Another worker, after the lease of the first was over. */
const leasedAgain = { ...leased(TURN_KEY), n: 2, attempt: 2, since: after(140), workerId: 'w-2' };
export const resumedAgain = (more: { n?: number; leaseUntil?: Instant } = {}): Told =>
  told(
    { type: 'TurnResumed', data: { ...leasedAgain, leaseUntil: after(200), ...more } },
    'demo-agent',
    'agent',
    after(140),
  );
export const givenBackAgain: Told = told(
  { type: 'LeaseGivenBack', data: { ...leasedAgain, n: 3 } },
  'demo-agent',
  'agent',
  after(145),
);
export const givenBack: Told = told(
  { type: 'LeaseGivenBack', data: { ...leased(TURN_KEY), n: 2 } },
  'demo-agent',
  'agent',
  after(75),
);

export const started: Told = told(
  {
    type: 'ToolExecutionStarted',
    data: { approvalId: CALL, attempt: 1, workerId: 'w-1', tokenId: WORKER_TOKEN, argsDigest: DIGEST },
  },
  'demo-agent',
  'agent',
  after(80),
);
export const succeeded: Told = told(
  { type: 'ToolExecutionSucceeded', data: { approvalId: CALL, attempt: 1, result: 'done' } },
  'demo-agent',
  'agent',
  after(85),
);
export const frozen: Told = told(
  { type: 'FreezeSwitched', data: { n: 1, on: true, tool: 'pay', reason: 'look first' } },
  'olga',
  'person',
  after(95),
);
export const revoked = (by = 'ada'): Told =>
  told(
    { type: 'ToolApprovalRevoked', data: { approvalId: CALL, reason: 'no', turnEnded: false } },
    by,
    'person',
    after(80),
  );
export const lapsed: Told = told(
  { type: 'ToolApprovalLapsed', data: { approvalId: CALL } },
  'approval-service',
  'timer',
  after(DAY + 60),
);

export const recordedAt = (fact: Told, seq: number): Recorded<HoldpointEvent> => ({
  eventId: `e-${seq}`,
  occurredAt: fact.at,
  correlationId: 'conv-1',
  causationId: 'c',
  actor: { kind: fact.kind, id: fact.by, via: 'test' },
  tenant: TENANT,
  subject: subjectOf(TENANT, fact.event),
  event: fact.event,
  seq,
  storedAt: fact.at,
});

const requestSeqOf = (recorded: readonly Recorded<HoldpointEvent>[]): number =>
  recorded.find(({ event }) => event.type === 'ToolApprovalRequested')?.seq ?? 0;

/** What a rule reads after these facts. */
export function stateAfter(...facts: readonly Told[]): CallState {
  const recorded = facts.map((fact, index) => recordedAt(fact, index + 1));
  const about = (id: string) => recorded.filter(({ subject }) => placeOf(subject).id === id);
  return {
    turn: about(TURN_KEY).reduce(evolveTurn, UNKNOWN_TURN),
    approval: about(CALL).reduce(evolveApproval, NEW_APPROVAL),
    freezes: recorded.reduce(evolveFreezes, NOTHING_FROZEN),
    policy: policyAt(recorded.reduce(evolvePolicies, NO_POLICIES), TENANT, requestSeqOf(recorded)),
  };
}

type Given = Answer<HoldpointEvent, Refusal>;

/** `given(facts).when(rule, command, context).then…`: one line a rule. */
export const given = (...facts: readonly Told[]) => ({
  when<Command, Context>(
    decide: (command: Command, state: CallState, context: Context) => Given,
    command: Command,
    context: Context,
  ) {
    const answer = decide(command, stateAfter(...facts), context);
    const says = answered(expect, answer);
    return {
      ...says,
      then: (type: HoldpointEvent['type'], data: object) => says.then({ type, data }),
      thenRefused: (reason: Reason, more: Partial<Refusal> = {}) => says.thenRefused(reason, more),
      event: () => (answer.kind === 'accept' ? answer.event.data : undefined),
      refusal: () => (answer.kind === 'refuse' ? answer.refusal : undefined),
    };
  },
});

export const callerOf = (subject: string, more: Partial<Caller> = {}): Caller => ({
  tenant: TENANT,
  tokenId: `tk_${subject}` as TokenId,
  subject,
  roles: ['approver'],
  groups: [],
  ...more,
});

export const by = (
  subject: string,
  now: Instant = after(100),
  more: Partial<Caller> = {},
): ByCaller & { now: Instant } => ({
  caller: callerOf(subject, more),
  now,
});
