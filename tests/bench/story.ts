import { digestOf } from '#contracts/canonical';
import type { Actor, Fact } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, instant, shortDigest, turnKeyOf, type Tenant, type TokenId } from '#contracts/ids';
import { subjectOf } from '#contracts/subjects';

export const TENANT = 'default' as Tenant;
const TOKEN = `tk_${'a'.repeat(26)}` as TokenId;
const BEGUN_AT = Date.parse('2026-03-01T10:00:00.000Z');
const AGENT: Actor = { kind: 'agent', id: 'billing-agent', via: `token:${TOKEN}` };
const PERSON: Actor = { kind: 'person', id: 'ada@example.com', via: `token:${TOKEN}` };
const REQUIREMENT = { policyVersion: 0, engineVersion: '1', hash: digestOf('one approver') };
const SCHEMA = {
  type: 'object',
  required: ['to', 'subject', 'body'],
  properties: { to: { type: 'string' }, subject: { type: 'string' }, body: { type: 'string' } },
};

export type Step = 'requested' | 'decided' | 'resumed' | 'used' | 'reported' | 'ended';
export const STEPS: readonly Step[] = ['requested', 'decided', 'resumed', 'used', 'reported', 'ended'];
/** Who writes it. */
export const WRITER = {
  requested: 'orchestrator',
  decided: 'approval-service',
  resumed: 'orchestrator',
  used: 'approval-service',
  reported: 'orchestrator',
  ended: 'orchestrator',
} as const satisfies Record<Step, string>;

/** Of twenty turns seventeen have one call, two have two and one has three; of seven decisions one is a denial. */
const callsOf = (turn: number): number => (turn % 20 === 0 ? 3 : turn % 10 === 1 ? 2 : 1);
const isApproved = (turn: number, call: number): boolean => (turn * 3 + call) % 7 !== 0;
const indexesOf = (turn: number): number[] => Array.from({ length: callsOf(turn) }, (_, index) => index);

/** The facts of one step of the n-th turn, as the services would write them. */
export function factsOf(turn: number, step: Step): Fact<HoldpointEvent>[] {
  switch (step) {
    case 'requested':
      return [factOf(turn, AGENT, requested(turn))];
    case 'decided':
      return indexesOf(turn).map((index) => factOf(turn, PERSON, decided(turn, index)));
    case 'resumed':
      return [factOf(turn, AGENT, resumed(turn))];
    case 'used':
      return approvedCalls(turn).map((index) => factOf(turn, AGENT, used(turn, index)));
    case 'reported':
      return approvedCalls(turn).map((index) => factOf(turn, AGENT, reported(turn, index)));
    case 'ended':
      return [factOf(turn, AGENT, ended(turn))];
  }
}

const approvedCalls = (turn: number): number[] => indexesOf(turn).filter((index) => isApproved(turn, index));
const idsOf = (turn: number) => {
  const conversationId = `conversation-${turn % 5_000}`;
  const turnId = `turn-${turn}`;
  return { conversationId, turnId, turnKey: turnKeyOf(TENANT, conversationId, turnId) };
};
const at = (turn: number) => instant(BEGUN_AT + turn * 50);

function factOf(turn: number, actor: Actor, event: HoldpointEvent): Fact<HoldpointEvent> {
  const subject = subjectOf(TENANT, event);
  return {
    tenant: TENANT,
    subject,
    event,
    eventId: `ev_${shortDigest(subject)}`,
    occurredAt: at(turn),
    correlationId: idsOf(turn).conversationId,
    causationId: `request:${shortDigest('cause', subject)}`,
    actor,
  };
}

const argsOf = (turn: number, index: number) => ({
  to: `customer-${turn}@example.com`,
  subject: `Your invoice ${turn}-${index} of March`,
  body: `Dear customer, the invoice ${turn} is attached. `.repeat(6),
});

function requested(turn: number): HoldpointEvent {
  const ids = idsOf(turn);
  const toolCalls = indexesOf(turn).map((index) => {
    const args = argsOf(turn, index);
    const call = { toolCallId: `call_${turn}_${index}`, toolName: 'send_email', server: 'gmail', inputSchema: SCHEMA };
    return { ...call, args, argsDigest: digestOf(args), description: 'Sends an e-mail in the name of the company.' };
  });
  const agent = { id: 'billing-agent', path: ['root', 'billing'] };
  const data = { ...ids, agent, release: 'all' as const, pool: 'default', toolCalls, tokenId: TOKEN };
  return { type: 'ToolApprovalRequested', data: { ...data, digest: digestOf(data) } };
}

const decided = (turn: number, index: number): HoldpointEvent => ({
  type: 'ToolApprovalDecided',
  data: {
    approvalId: approvalIdOf(idsOf(turn).turnKey, index),
    decision: isApproved(turn, index) ? 'approved' : 'denied',
    reason: 'Checked against the order and the customer record.',
    argsDigest: digestOf(argsOf(turn, index)),
    requirement: REQUIREMENT,
    requestSeq: 1 + turn,
  },
});

const attemptOf = { attempt: 1, workerId: 'worker-1', tokenId: TOKEN };

const resumed = (turn: number): HoldpointEvent => ({
  type: 'TurnResumed',
  data: { key: idsOf(turn).turnKey, n: 1, ...attemptOf, since: at(turn), leaseUntil: at(turn + 1_200) },
});

const used = (turn: number, index: number): HoldpointEvent => ({
  type: 'ToolExecutionStarted',
  data: {
    approvalId: approvalIdOf(idsOf(turn).turnKey, index),
    ...attemptOf,
    argsDigest: digestOf(argsOf(turn, index)),
  },
});

const reported = (turn: number, index: number): HoldpointEvent => ({
  type: 'ToolExecutionSucceeded',
  data: {
    approvalId: approvalIdOf(idsOf(turn).turnKey, index),
    attempt: 1,
    durationMs: 212,
    result: { sent: true, messageId: `message-${turn}`, log: 'Accepted by the first of two servers. '.repeat(8) },
  },
});

function ended(turn: number): HoldpointEvent {
  const { turnKey, turnId } = idsOf(turn);
  return { type: 'TurnEnded', data: { turnKey, turnId, status: 'completed', attempt: 1 } };
}
