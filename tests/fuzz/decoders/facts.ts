import fc from 'fast-check';
import type { Envelope, Fact } from '#contracts/envelope';
import { EVENT_SHAPES, type Written } from '#contracts/events';
import { approvalIdOf, instant, turnKeyOf, type Tenant } from '#contracts/ids';
import { continuationSubject, subjectOf } from '#contracts/subjects';
import { encodeFact } from '#event-log/codec';
import type { RawFact } from '#event-log/log';
import { contractSchemas } from '../generate/contract-schemas.js';
import { anyJson, anyObject } from '../generate/hostile.js';
import { ValidValues } from '../generate/valid.js';

const TENANT = 'default' as Tenant;
const turnKeys = fc.constantFrom(...['t-1', 't-2'].map((turnId) => turnKeyOf(TENANT, 'c-1', turnId)));
const approvalIds = turnKeys.map((key) => approvalIdOf(key, 0));
/** A year's worth of instants: the pattern of one also lets through the 99th of a month. */
const moments = fc.integer({ min: 0, max: 31_536_000_000 }).map((ms) => instant(Date.UTC(2026, 0, 1) + ms));

const values = new ValidValues(
  contractSchemas(),
  {
    turnKey: turnKeys,
    approvalId: approvalIds,
    key: fc.oneof(turnKeys, approvalIds),
    occurredAt: moments,
    since: moments,
    leaseUntil: moments,
  },
  { json: anyJson(), object: anyObject() },
);

export const EVENT_TYPES = Object.keys(EVENT_SHAPES) as Written['type'][];

/** Facts of a type, as a service would write them: every field of the contract, and none else. */
export function factsOf(type: Written['type']): fc.Arbitrary<Fact<Written>> {
  const envelopes = values.of({ $ref: 'Envelope' }) as fc.Arbitrary<Envelope>;
  const data = values.of({ $ref: EVENT_SHAPES[type].name });
  return fc.tuple(envelopes, data).map(([envelope, inner]) => {
    const event = { type, data: inner } as Written;
    return { ...envelope, tenant: TENANT, subject: rightSubject(event), event };
  });
}

const rightSubject = (event: Written): string =>
  event.type === 'ContinueConversation' ? continuationSubject(TENANT, event.data) : subjectOf(TENANT, event);

export const rawOf = (fact: Fact<Written>): RawFact => ({
  seq: 1,
  subject: fact.subject,
  storedAt: instant(0),
  ...encodeFact(fact, 'fuzz'),
});
