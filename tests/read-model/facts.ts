import { setTimeout as sleep } from 'node:timers/promises';
import { digestOf } from '#contracts/canonical';
import type { ActorKind } from '#contracts/envelope';
import type { RepeatedDenial, UsedGrant } from '#contracts/approvals/events';
import type { HoldpointEvent } from '#contracts/events';
import type { GrantScope, Remembered } from '#contracts/grants/events';
import {
  approvalIdOf,
  grantIdOf,
  instant,
  later,
  shortDigest,
  turnKeyOf,
  type Instant,
  type Tenant,
  type TokenId,
} from '#contracts/ids';
import { subjectOf } from '#contracts/subjects';
import { encodeFact } from '#event-log/codec';
import type { LogState, RawFact } from '#event-log/log';

export const TENANT = 'default' as Tenant;
export const START = instant(Date.parse('2026-03-01T10:00:00.000Z'));
const TOKEN = `tk_${'a'.repeat(26)}` as TokenId;
export const at = (seconds: number): Instant => later(START, seconds);
export const grantId = (name: string, tenant = TENANT) => grantIdOf(tenant, name);
export const tokenId = (name: string) => `tk_${shortDigest(name)}` as TokenId;

/** An event, and who did it when; everything else of a fact follows from it. */
export interface Told {
  readonly event: HoldpointEvent;
  readonly when: number;
  readonly by: string;
  readonly kind: ActorKind;
  readonly tenant: Tenant;
}
const told = (event: HoldpointEvent, when: number, more: Partial<Told> = {}): Told => ({
  event,
  when,
  by: 'ada@example.com',
  kind: 'person',
  tenant: TENANT,
  ...more,
});

export interface Asked {
  readonly calls?: number;
  readonly release?: 'all' | 'each';
  readonly when?: number;
  readonly tool?: string;
  /** None where it is null. */
  readonly server?: string | null;
  readonly conversation?: string;
  readonly agent?: string;
  readonly pool?: string;
  readonly tenant?: Tenant;
  readonly args?: Record<string, unknown>;
  readonly description?: string;
}

export const turnOf = (turnId: string, tenant = TENANT) => turnKeyOf(tenant, 'conv-1', turnId);
export const callOf = (turnId: string, index = 0, tenant = TENANT) => approvalIdOf(turnOf(turnId, tenant), index);
export const opened = told({ type: 'LogOpened', data: { epoch: 'e1', logId: 'log-1' } }, 0, {
  tenant: '_sys' as Tenant,
});

export function requested(turnId: string, asked: Asked = {}): Told {
  const {
    calls = 1,
    release = 'all',
    when = 0,
    tool = 'send_email',
    agent = 'billing-agent',
    pool = 'default',
    conversation = 'conv-1',
  } = asked;
  const { tenant = TENANT, args = { to: 'x@example.com' }, server = 'gmail', description } = asked;
  const call = {
    toolName: tool,
    ...(server === null ? {} : { server }),
    args,
    argsDigest: digestOf(args),
    ...(description === undefined ? {} : { description }),
  };
  const data = {
    turnKey: turnOf(turnId, tenant),
    conversationId: conversation,
    turnId,
    agent: { id: agent },
    release,
    pool,
    toolCalls: Array.from({ length: calls }, (_, index) => ({ toolCallId: `call_${index}`, ...call })),
    digest: digestOf(turnId),
    tokenId: TOKEN,
  };
  return told({ type: 'ToolApprovalRequested', data }, when, { by: 'demo-agent', kind: 'agent', tenant });
}

type Decision = 'approved' | 'denied' | 'responded' | 'expired' | 'cancelled';
interface Deciding {
  readonly index?: number;
  readonly when?: number;
  readonly tenant?: Tenant;
  readonly reason?: string;
  readonly editedArgs?: Record<string, unknown>;
  readonly by?: string;
  readonly kind?: ActorKind;
  readonly remember?: Remembered;
  readonly grant?: UsedGrant;
  readonly repeats?: RepeatedDenial;
}
export const decided = (
  turnId: string,
  decision: Decision = 'approved',
  { index = 0, when = 60, tenant = TENANT, by = 'ada@example.com', kind = 'person', ...more }: Deciding = {},
): Told =>
  told(
    {
      type: 'ToolApprovalDecided',
      data: {
        approvalId: callOf(turnId, index, tenant),
        decision,
        argsDigest: digestOf({}),
        response: null,
        requirement: { policyVersion: 0, engineVersion: '1', hash: digestOf(1) },
        requestSeq: 1,
        ...more,
      },
    },
    when,
    { tenant, by, kind },
  );
/** A use of a grant approves the call. */
export const decidedByGrant = (turnId: string, name: string, { n = 1, ...more }: Deciding & { n?: number } = {}) => {
  const grant = { grantId: grantId(name), n, by: 'ada@example.com' };
  return decided(turnId, 'approved', { grant, by: grant.grantId, kind: 'grant', ...more });
};
/** What was said of an earlier call is the answer to this one too. */
export const deniedAgain = (
  turnId: string,
  first: string,
  { count = 1, ...more }: Deciding & { count?: number } = {},
) => {
  const approvalId = callOf(first);
  const repeats = { approvalId, by: 'ada@example.com', count };
  return decided(turnId, 'denied', { repeats, by: approvalId, kind: 'denial', ...more });
};

interface Leased {
  readonly n?: number;
  readonly attempt?: number;
  readonly when?: number;
  readonly until?: number;
  /** Of one call, where the turn releases each. */
  readonly index?: number;
}
function lease(turnId: string, { n = 1, attempt = 1, when = 120, index }: Leased) {
  const key = index === undefined ? turnOf(turnId) : callOf(turnId, index);
  return { key, n, attempt, since: at(when), workerId: 'w-1', tokenId: TOKEN };
}
const WORKER = { by: 'demo-agent', kind: 'agent' } as const;
export const resumed = (turnId: string, of: Leased = {}): Told =>
  told(
    { type: 'TurnResumed', data: { ...lease(turnId, of), leaseUntil: at(of.until ?? 180) } },
    of.when ?? 120,
    WORKER,
  );
export const extended = (turnId: string, of: Leased = {}): Told =>
  told(
    { type: 'LeaseExtended', data: { ...lease(turnId, of), leaseUntil: at(of.until ?? 240) } },
    of.when ?? 150,
    WORKER,
  );
export const givenBack = (turnId: string, of: Leased = {}): Told =>
  told({ type: 'LeaseGivenBack', data: lease(turnId, of) }, of.when ?? 150, WORKER);

interface Starting {
  readonly index?: number;
  readonly attempt?: number;
  readonly when?: number;
  /** By its name, where one approved it. */
  readonly grant?: string;
}
export function started(turnId: string, { index = 0, attempt = 1, when = 130, grant }: Starting = {}): Told {
  const use = { attempt, workerId: 'w-1', tokenId: TOKEN, argsDigest: digestOf({}) };
  const by = grant === undefined ? {} : { grantId: grantId(grant) };
  const data = { approvalId: callOf(turnId, index), ...use, ...by };
  return told({ type: 'ToolExecutionStarted', data }, when, WORKER);
}
export const revoked = (turnId: string, { index = 0, when = 130, reason = 'changed my mind' } = {}): Told =>
  told({ type: 'ToolApprovalRevoked', data: { approvalId: callOf(turnId, index), reason, turnEnded: false } }, when);
export const lapsed = (turnId: string, { index = 0, when = 90_000 } = {}): Told =>
  told({ type: 'ToolApprovalLapsed', data: { approvalId: callOf(turnId, index) } }, when, {
    by: 'approval-service',
    kind: 'timer',
  });
export const succeeded = (turnId: string, { index = 0, when = 140 } = {}): Told =>
  told(
    {
      type: 'ToolExecutionSucceeded',
      data: { approvalId: callOf(turnId, index), attempt: 1, durationMs: 12, result: { sent: true } },
    },
    when,
    WORKER,
  );
export const failed = (turnId: string, { index = 0, when = 140 } = {}): Told =>
  told(
    { type: 'ToolExecutionFailed', data: { approvalId: callOf(turnId, index), attempt: 1, error: 'refused' } },
    when,
    WORKER,
  );
export const ended = (turnId: string, status: 'completed' | 'failed' | 'cancelled' = 'completed', when = 200): Told =>
  told({ type: 'TurnEnded', data: { turnKey: turnOf(turnId), turnId, status } }, when, WORKER);
export const issued = (name: string, when = 0): Told =>
  told(
    {
      type: 'TokenIssued',
      data: { tokenId: tokenId(name), secretHash: '0'.repeat(64), name, subject: name, roles: ['approver'] },
    },
    when,
  );
export const tokenRevoked = (name: string, when = 100): Told =>
  told({ type: 'TokenRevoked', data: { tokenId: tokenId(name) } }, when);

interface Granting extends Partial<GrantScope> {
  readonly issuedAt?: number;
  readonly expiresAt?: Instant;
  readonly maxUses?: number;
  readonly tenant?: Tenant;
}
/** The database looks at its own clock: what is to last lasts whenever the test runs. */
const NEVER = instant(Date.UTC(9999, 0));
/** What a decision carries of the grant that it gives. */
export function remembered(name: string, of: Granting = {}): Remembered {
  const { issuedAt: _, expiresAt = NEVER, maxUses = 3, tenant = TENANT, ...scope } = of;
  return {
    grantId: grantId(name, tenant),
    scope: { tool: 'send_email', ...scope },
    schemaDigest: digestOf({ inputSchema: {}, annotations: {} }),
    expiresAt,
    maxUses,
    groups: [],
  };
}
export function grantIssued(name: string, of: Granting = {}, first?: string): Told {
  const by = first === undefined ? {} : { approvalId: callOf(first) };
  const { issuedAt = 0, tenant = TENANT } = of;
  return told({ type: 'GrantIssued', data: { ...remembered(name, of), ...by } }, issuedAt, { tenant });
}
export const redeemed = (name: string, turnId: string, { n = 1, index = 0, when = 60 } = {}): Told =>
  told({ type: 'GrantRedeemed', data: { grantId: grantId(name), n, approvalId: callOf(turnId, index) } }, when, {
    by: 'approval-service',
    kind: 'service',
  });
interface EndingGrant {
  readonly when?: number;
  readonly reason?: string;
  readonly tenant?: Tenant;
}
export const grantEnded = (name: string, { when = 150, tenant = TENANT, reason }: EndingGrant = {}): Told => {
  const data = { grantId: grantId(name, tenant), ...(reason === undefined ? {} : { reason }) };
  return told({ type: 'GrantEnded', data }, when, { by: 'olga@example.com', tenant });
};

export function rawOf({ event, when, by, kind, tenant }: Told, seq: number): RawFact {
  const subject = subjectOf(tenant, event);
  const fact = {
    eventId: shortDigest(String(seq)),
    occurredAt: at(when),
    correlationId: 'conv-1',
    causationId: 'request:1',
    actor: { kind, id: by, via: 'test' },
    tenant,
    subject,
    event,
  };
  return { seq, subject, ...encodeFact(fact, 'test'), storedAt: at(when) };
}

/** A log that can also be damaged: what it gives is written by the test, message by message. */
export class TestLog {
  readonly raws: RawFact[] = [];
  private waiting: (() => void)[] = [];

  constructor(private readonly createdAt: Instant = START) {}

  tell(...facts: readonly Told[]): this {
    return this.give(...facts.map((fact, index) => rawOf(fact, this.lastSeq + index + 1)));
  }

  give(...raws: readonly RawFact[]): this {
    this.raws.push(...raws);
    for (const wake of this.waiting.splice(0)) wake();
    return this;
  }

  get lastSeq(): number {
    return this.raws.at(-1)?.seq ?? 0;
  }

  state = (): Promise<LogState> => Promise.resolve({ createdAt: this.createdAt, lastSeq: this.lastSeq });

  async *follow(after: number, signal: AbortSignal): AsyncIterable<RawFact> {
    let next = this.raws.findIndex(({ seq }) => seq > after);
    if (next < 0) next = this.raws.length;
    while (!signal.aborted) {
      const raw = this.raws[next];
      if (raw) {
        next += 1;
        yield raw;
      } else await Promise.race([new Promise<void>((resolve) => this.waiting.push(resolve)), sleep(20)]);
    }
  }
}
