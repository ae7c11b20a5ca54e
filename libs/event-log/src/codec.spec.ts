import { describe, expect, it } from '@jest/globals';
import type { HoldpointEvent } from '#contracts/events';
import { instant } from '#contracts/ids';
import { decodeFact, encodeFact } from './codec.js';
import { endedTurn, freshTenant } from './log.contract.js';
import { UnreadableFact, type RawFact } from './log.js';
import type { FieldCodec } from './sealing.js';

const fact = endedTurn(freshTenant(), 't-1', 'a secret reason');
const raw = (change: Partial<RawFact> = {}): RawFact => ({
  seq: 1,
  subject: fact.subject,
  storedAt: instant(0),
  ...encodeFact(fact, 'test'),
  ...change,
});
const text = (data: Uint8Array) => new TextDecoder().decode(data);
const bytes = (value: string) => new TextEncoder().encode(value);

describe('a fact on its way', () => {
  it('is a CloudEvent in headers, with a body in canonical form', () => {
    const { headers, data } = encodeFact(fact, 'orchestrator');
    expect(headers).toMatchObject({
      'ce-specversion': '1.0',
      'ce-id': fact.eventId,
      'ce-type': 'holdpoint.TurnEnded.v1',
      'ce-source': '/holdpoint/orchestrator',
      'ce-subject': fact.subject,
    });
    expect(Object.keys(JSON.parse(text(data)) as object)).toEqual([
      'actor',
      'causationId',
      'correlationId',
      'data',
      'eventId',
      'occurredAt',
    ]);
  });
  it('passes its marked fields, and no others, through the codec', () => {
    const codec: FieldCodec = {
      seal: (value) => Buffer.from(String(value)).toString('base64'),
      open: (value) => Buffer.from(String(value), 'base64').toString(),
    };
    const { headers, data } = encodeFact(fact, 'test', codec);
    expect(text(data)).not.toContain('a secret reason');
    expect(text(data)).toContain('completed');
    expect(decodeFact<HoldpointEvent>(raw({ headers, data }), codec).event.data).toMatchObject({
      reason: 'a secret reason',
    });
  });
});

describe('a fact is unreadable', () => {
  const unreadable = (change: Partial<RawFact>) => expect(() => decodeFact(raw(change))).toThrow(UnreadableFact);
  const body = (change: (body: Record<string, unknown>) => object) => ({
    data: bytes(JSON.stringify(change(JSON.parse(text(raw().data)) as Record<string, unknown>))),
  });
  it('of an unknown type', () => unreadable({ headers: { 'ce-type': 'holdpoint.Nonsense.v1' } }));
  it('of an unknown version', () => unreadable({ headers: { 'ce-type': 'holdpoint.TurnEnded.v2' } }));
  it('without a type', () => unreadable({ headers: {} }));
  it('that is no JSON', () => unreadable({ data: bytes('{') }));
  it('that is not UTF-8', () => unreadable({ data: new Uint8Array([0xff]) }));
  it('that is no object', () => unreadable({ data: bytes('[]') }));
  it('without data', () => unreadable(body(({ data: _, ...rest }) => rest)));
  it('with a field more', () =>
    unreadable(body((one) => ({ ...one, data: { ...(one['data'] as object), surplus: 1 } }))));
  it('without who did it', () => unreadable(body(({ actor: _, ...rest }) => rest)));
  it('under a subject that is not its own', () => unreadable({ subject: fact.subject.replace(/tn_./, 'tn_1') }));
});
