import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { Fact, Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { instant, shortDigest, turnKeyOf, type Tenant, type TokenId } from '#contracts/ids';
import { subjectOf, subjects } from '#contracts/subjects';
import { decodeFact } from './codec.js';
import type { Appended, Delivery, Log } from './log.js';

/** A tenant that no other test has, so that tests can share a log. */
export const freshTenant = (): Tenant => `t${shortDigest('test', randomUUID())}` as Tenant;

/** An ended turn: the smallest fact that a durable subscription is given. */
export const endedTurn = (tenant: Tenant, turnId: string, reason = 'done'): Fact<HoldpointEvent> =>
  factOf(tenant, {
    type: 'TurnEnded',
    data: { turnKey: turnKeyOf(tenant, 'conv', turnId), turnId, status: 'completed', reason },
  });

/** A turn of one call: a fact as large as its arguments, which whoever reads this log can make sense of. */
export function askedTurn(tenant: Tenant, turnId: string, args: Record<string, unknown>): Fact<HoldpointEvent> {
  const turnKey = turnKeyOf(tenant, 'conv', turnId);
  const call = { toolCallId: 'c', toolName: 'tool', args, argsDigest: digestOf(args) };
  const asked = {
    turnKey,
    conversationId: 'conv',
    turnId,
    agent: { id: 'a' },
    release: 'all',
    pool: 'default',
  } as const;
  const by = { digest: digestOf(turnId), tokenId: 'admin' as TokenId };
  return factOf(tenant, { type: 'ToolApprovalRequested', data: { ...asked, ...by, toolCalls: [call] } });
}

const factOf = (tenant: Tenant, event: HoldpointEvent): Fact<HoldpointEvent> => ({
  tenant,
  subject: subjectOf(tenant, event),
  event,
  eventId: randomUUID(),
  occurredAt: instant(Date.now()),
  correlationId: 'conv',
  causationId: 'test',
  actor: { kind: 'agent', id: 'tester', via: 'test' },
});

/** What both logs promise; held against memory, one server, and a cluster of three. */
export function describeLogContract(open: () => Log): void {
  describeWriting(open);
  describeReading(open);
}

function describeWriting(open: () => Log): void {
  it('keeps a fact as it was given, reasons in every script and control characters included', async () => {
    const log = open();
    const fact = endedTurn(freshTenant(), 't-1', 'because\u0000 of “ü”, 漢字 and \u202e');
    const [appended] = await append(log, fact);
    expect(appended?.is).toBe('stored');
    const read = await log.last(fact.subject);
    expect(read).toMatchObject({ ...fact, event: { type: 'TurnEnded', data: { ...fact.event.data } } });
  });

  it('keeps one fact a subject: the second is told that it is taken, and the first stays', async () => {
    const log = open();
    const tenant = freshTenant();
    const [first, second] = [endedTurn(tenant, 't-1', 'first'), endedTurn(tenant, 't-1', 'second')];
    const results = await append(log, first, second);
    expect(results.map(({ is }) => is)).toEqual(['stored', 'taken']);
    expect((await log.last(first.subject))?.eventId).toBe(first.eventId);
  });

  it('lets one of fifty at once win', async () => {
    const log = open();
    const tenant = freshTenant();
    const facts = Array.from({ length: 50 }, () => endedTurn(tenant, 't-1'));
    const results = await Promise.all(facts.map((fact) => log.append(fact)));
    const winners = facts.filter((_, index) => results[index]?.is === 'stored');
    expect(winners).toHaveLength(1);
    expect((await log.last(subjects.end(tenant, turnKeyOf(tenant, 'conv', 't-1'))))?.eventId).toBe(winners[0]?.eventId);
  });

  it('says that a subject is empty', async () => {
    expect(await open().last(endedTurn(freshTenant(), 'nobody').subject)).toBeUndefined();
  });
}

function describeReading(open: () => Log): void {
  it('reads a tenant fact by fact, in order, to its end', async () => {
    const log = open();
    const tenant = freshTenant();
    const facts = ['a', 'b', 'c'].map((turnId) => endedTurn(tenant, turnId));
    await append(log, ...facts, endedTurn(freshTenant(), 'other'));
    const story: Recorded<HoldpointEvent>[] = [];
    const filter = `hp.v1.e1.${tenant}.>`;
    for (let fact = await log.next(filter, 1); fact; fact = await log.next(filter, fact.seq + 1)) story.push(fact);
    expect(story.map(({ eventId }) => eventId)).toEqual(facts.map(({ eventId }) => eventId));
  });

  it('follows from a sequence, without a gap, what is there and what comes', async () => {
    const log = open();
    const tenant = freshTenant();
    const { lastSeq } = await log.state();
    const facts = ['a', 'b', 'c', 'd'].map((turnId) => endedTurn(tenant, turnId));
    await append(log, ...facts.slice(0, 2));
    const seen = followUntil(log, lastSeq, facts.length, tenant);
    await append(log, ...facts.slice(2));
    expect((await seen).map(({ eventId }) => eventId)).toEqual(facts.map(({ eventId }) => eventId));
  });

  it('delivers again what was not done, and not what was', async () => {
    const log = open();
    const tenant = freshTenant();
    const facts = ['a', 'b'].map((turnId) => endedTurn(tenant, turnId));
    await append(log, ...facts);
    const deliveries = await deliverUntil(log, tenant, facts[0]?.eventId ?? '');
    expect(deliveries.map(({ eventId }) => eventId).filter((id) => id === facts[0]?.eventId)).toHaveLength(2);
    expect(deliveries.map(({ eventId }) => eventId).filter((id) => id === facts[1]?.eventId)).toHaveLength(1);
  });
}

async function append(log: Log, ...facts: Fact<HoldpointEvent>[]): Promise<Appended[]> {
  const results = [];
  for (const fact of facts) results.push(await log.append(fact));
  return results;
}

async function followUntil(
  log: Log,
  after: number,
  count: number,
  tenant: Tenant,
): Promise<Recorded<HoldpointEvent>[]> {
  const stop = new AbortController();
  const facts: Recorded<HoldpointEvent>[] = [];
  let seq = after;
  for await (const raw of log.follow(after, stop.signal)) {
    expect(raw.seq).toBe(seq + 1);
    seq = raw.seq;
    if (raw.subject.includes(`.${tenant}.`)) facts.push(decodeFact<HoldpointEvent>(raw));
    if (facts.length === count) stop.abort();
  }
  return facts;
}

async function deliverUntil(log: Log, tenant: Tenant, refuseFirst: string): Promise<Recorded<HoldpointEvent>[]> {
  const stop = new AbortController();
  const seen: Recorded<HoldpointEvent>[] = [];
  for await (const delivery of log.deliveries('approvals', stop.signal)) {
    settle(delivery, refuseFirst);
    const fact = delivery.read();
    if (fact.tenant === tenant) seen.push(fact);
    if (seen.length === 3) stop.abort();
  }
  return seen;
}

function settle(delivery: Delivery<HoldpointEvent>, refuseFirst: string): void {
  if (delivery.read().eventId === refuseFirst && delivery.deliveries === 1) delivery.again(50);
  else delivery.ack();
}
