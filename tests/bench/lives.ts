import { digestOf } from '#contracts/canonical';
import type { ContinuationCommand } from '#contracts/continuations/events';
import type { Actor, Fact } from '#contracts/envelope';
import type { HoldpointEvent, Written } from '#contracts/events';
import {
  approvalIdOf,
  instant,
  shortDigest,
  turnKeyOf,
  type LeaseKey,
  type Tenant,
  type TokenId,
} from '#contracts/ids';
import { continuationSubject, subjectOf } from '#contracts/subjects';
import type { ToolApprovalRequested } from '#contracts/turns/events';
import { BEFORE_ANY_POLICY } from '#policy/compiled';
import { ruleOn } from '#policy/ruling';
import { kindOf, type Kind } from './life-kinds.js';
import { argsOf, SCHEMA } from './life-arguments.js';

/** Written side by side, by one service; the next part of the life follows when all are stored. */
/** Nothing was published: what the default says. */
const APPLIED = ruleOn(
  BEFORE_ANY_POLICY,
  { agent: { id: 'a' }, conversationId: 'c' },
  { toolName: 't', args: {} },
).applied;

export type Part =
  | { readonly by: 'orchestrator' | 'approval-service'; readonly facts: readonly Fact<HoldpointEvent>[] }
  | { readonly by: 'gateway'; readonly facts: readonly Fact<ContinuationCommand>[] };
export interface Life {
  readonly approvals: number;
  readonly parts: readonly Part[];
}

export const TENANTS = 100;
export const POOLS_A_TENANT = 2;
export const tenantOfTurn = (turn: number): Tenant => `tenant-${turn % TENANTS}` as Tenant;
export const poolOfTurn = (turn: number): string => `pool-${Math.floor(turn / TENANTS) % POOLS_A_TENANT}`;

const TOKEN = `tk_${'a'.repeat(26)}` as TokenId;
const BEGUN_AT = Date.parse('2026-03-01T10:00:00.000Z');
const AGENT: Actor = { kind: 'agent', id: 'billing-agent', via: `token:${TOKEN}` };
const PERSON: Actor = { kind: 'person', id: 'ada.lovelace@example.com', via: `token:${TOKEN}` };
const TIMER: Actor = { kind: 'timer', id: 'approval-service', via: 'sweep:expiry' };
const GATEWAY: Actor = { kind: 'service', id: 'gateway', via: 'reaction:approval-closed' };
const LEASE_MS = 60_000;

/** The n-th turn's whole life, as the services would write it. */
export function lifeOf(turn: number): Life {
  const kind = kindOf(turn);
  const tell = new Telling(turn, kind);
  return { approvals: kind.decisions.length, parts: kind.name === 'cancelled' ? tell.cancelled() : tell.decided() };
}

class Telling {
  private readonly tenant: Tenant;
  private readonly ids: Pick<ToolApprovalRequested, 'conversationId' | 'turnId' | 'turnKey'>;

  constructor(
    private readonly turn: number,
    private readonly kind: Kind,
  ) {
    this.tenant = tenantOfTurn(turn);
    const [conversationId, turnId] = [`conversation-${Math.floor(turn / 4)}`, `turn-${turn}`];
    this.ids = { conversationId, turnId, turnKey: turnKeyOf(this.tenant, conversationId, turnId) };
  }

  cancelled(): Part[] {
    const { turnKey, turnId } = this.ids;
    const end = { turnKey, turnId, status: 'cancelled' as const, reason: 'The customer withdrew the order.' };
    return [
      this.requested(),
      this.orchestrator([{ type: 'TurnEnded', data: end }]),
      this.approvals(this.all.map((index) => this.decision(index))),
    ];
  }

  decided(): Part[] {
    const { turnKey } = this.ids;
    const each = this.kind.release === 'each';
    const keys = each ? this.approved.map((index) => this.approvalId(index)) : [turnKey];
    const begun = this.approved.length > 0 ? this.executed() : [];
    return [
      this.requested(),
      this.approvals(this.all.map((index) => this.decision(index))),
      this.commands(keys),
      this.orchestrator(keys.map((key) => this.resumed(key))),
      ...begun,
      ...(each ? [this.commands([turnKey]), this.orchestrator([this.resumed(turnKey)])] : []),
      this.orchestrator([this.ended()]),
    ];
  }

  /** One turn in five works longer than its first lease. */
  private executed(): Part[] {
    const longer = this.turn % 5 === 0 && this.kind.release === 'all' ? [this.extended(this.ids.turnKey)] : [];
    return [
      this.approvals(this.approved.map((index) => this.used(index))),
      this.orchestrator([...longer, ...this.approved.map((index) => this.reported(index))]),
    ];
  }

  private get all(): number[] {
    return this.kind.decisions.map((_, index) => index);
  }
  private get approved(): number[] {
    return this.all.filter((index) => this.kind.decisions[index] === 'approved');
  }
  private readonly approvalId = (index: number) => approvalIdOf(this.ids.turnKey, index);
  private readonly args = (index: number) => argsOf(this.turn, index);
  private at = (ms = 0) => instant(BEGUN_AT + this.turn * 50 + ms);

  private requested(): Part {
    const toolCalls = this.all.map((index) => {
      const args = this.args(index);
      const call = { toolCallId: `call_${this.turn}_${index}`, toolName: 'send_email', server: 'gmail', args };
      const description = 'Sends an e-mail in the name of the company.';
      return { ...call, argsDigest: digestOf(args), description, inputSchema: SCHEMA };
    });
    const agent = { id: 'billing-agent', path: ['root', 'billing'] };
    const pool = poolOfTurn(this.turn);
    const data = { ...this.ids, agent, release: this.kind.release, pool, toolCalls, tokenId: TOKEN };
    return this.orchestrator([{ type: 'ToolApprovalRequested', data: { ...data, digest: digestOf(data) } }]);
  }

  private decision(index: number): HoldpointEvent {
    const decision = this.kind.decisions[index] ?? 'approved';
    const args = this.kind.edited ? { ...this.args(index), subject: 'Your corrected invoice' } : this.args(index);
    const data = { approvalId: this.approvalId(index), decision, argsDigest: digestOf(args), requirement: APPLIED };
    const reason = decision === 'expired' ? {} : { reason: 'Checked against the order and the customer record.' };
    const edit = this.kind.edited ? { editedArgs: args } : {};
    return { type: 'ToolApprovalDecided', data: { ...data, ...reason, ...edit, requestSeq: 1 + this.turn } };
  }

  private readonly by = { workerId: 'worker-1', tokenId: TOKEN, attempt: 1 };
  private resumed(key: LeaseKey): HoldpointEvent {
    const lease = { key, n: 1, ...this.by, since: this.at(), leaseUntil: this.at(LEASE_MS) };
    return { type: 'TurnResumed', data: lease };
  }
  private extended(key: LeaseKey): HoldpointEvent {
    return {
      type: 'LeaseExtended',
      data: { key, n: 2, ...this.by, since: this.at(), leaseUntil: this.at(2 * LEASE_MS) },
    };
  }
  private used(index: number): HoldpointEvent {
    const argsDigest = digestOf(this.args(index));
    return { type: 'ToolExecutionStarted', data: { approvalId: this.approvalId(index), ...this.by, argsDigest } };
  }
  private reported(index: number): HoldpointEvent {
    const result = { sent: true, messageId: shortDigest('message', `${this.turn}`), log: 'Accepted. '.repeat(20) };
    return {
      type: 'ToolExecutionSucceeded',
      data: { approvalId: this.approvalId(index), attempt: 1, durationMs: 212, result },
    };
  }
  private ended(): HoldpointEvent {
    const { turnKey, turnId } = this.ids;
    return { type: 'TurnEnded', data: { turnKey, turnId, status: 'completed', attempt: 1 } };
  }

  private orchestrator(events: readonly HoldpointEvent[]): Part {
    return { by: 'orchestrator', facts: events.map((event) => this.fact(AGENT, subjectOf(this.tenant, event), event)) };
  }
  private approvals(events: readonly HoldpointEvent[]): Part {
    const actor = this.kind.name === 'expired' ? TIMER : PERSON;
    const facts = events.map((event) => this.fact(actor, subjectOf(this.tenant, event), event));
    return { by: 'approval-service', facts };
  }
  private commands(keys: readonly LeaseKey[]): Part {
    const pool = poolOfTurn(this.turn);
    const facts = keys.map((key) => {
      const kind = key === this.ids.turnKey ? ('turn' as const) : ('call' as const);
      const data = { key, kind, ...this.ids, pool, ...(kind === 'call' ? { approvalId: key } : {}) };
      const event = { type: 'ContinueConversation', data } as ContinuationCommand;
      return this.fact(GATEWAY, continuationSubject(this.tenant, event.data), event);
    });
    return { by: 'gateway', facts };
  }

  private fact<Event extends Written>(actor: Actor, subject: string, event: Event): Fact<Event> {
    const made = { eventId: `ev_${shortDigest(subject)}`, causationId: `request:${shortDigest('cause', subject)}` };
    const where = { tenant: this.tenant, subject, correlationId: this.ids.conversationId };
    return { ...where, ...made, occurredAt: this.at(), actor, event };
  }
}
