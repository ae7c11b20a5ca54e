import { describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { grantIdOf, later, type ApprovalId, type Instant, type Tenant } from '#contracts/ids';
import { subjectOf, subjects } from '#contracts/subjects';
import { evolveGrant, grantStatus, readGrant, readGrantEnd, type Grant } from './grant.js';

const TENANT = 'default' as Tenant;
const NOON = '2026-03-01T12:00:00.000Z' as Instant;
const AT = later(NOON, 5);
const ID = grantIdOf(TENANT, 'test');
const OTHER = grantIdOf(TENANT, 'other');
const terms = {
  scope: { tool: 'pay' },
  schemaDigest: digestOf({}),
  expiresAt: later(NOON, 60),
  maxUses: 2,
  groups: ['ops'],
};
const issued = (grantId = ID): HoldpointEvent => ({ type: 'GrantIssued', data: { grantId, ...terms } });
const ended = (reason?: string): HoldpointEvent => ({
  type: 'GrantEnded',
  data: { grantId: ID, ...(reason === undefined ? {} : { reason }) },
});
const redeemed = (n: number, grantId = ID): HoldpointEvent => ({
  type: 'GrantRedeemed',
  data: { grantId, n, approvalId: `ap_${'a'.repeat(26)}_${n}` as ApprovalId },
});

const recorded = (event: HoldpointEvent, seq: number, by = 'ada'): Recorded<HoldpointEvent> => ({
  event,
  eventId: `e-${seq}`,
  occurredAt: AT,
  correlationId: 'grant',
  causationId: 'test',
  actor: { kind: 'person', id: by, via: 'test' },
  tenant: TENANT,
  subject: subjectOf(TENANT, event),
  seq,
  storedAt: AT,
});
const after = (...facts: readonly Recorded<HoldpointEvent>[]) =>
  facts.reduce(evolveGrant, undefined as Grant | undefined);
const GIVEN = { grantId: ID, ...terms, by: 'ada', at: AT, seq: 7, used: 0, usedSeq: 0 };

describe('a grant', () => {
  it('is whose decision it is, from its place in the log on', () =>
    expect(after(recorded(issued(), 7))).toEqual(GIVEN));
  it('is used as often as its last use says', () =>
    expect(after(recorded(issued(), 7), recorded(redeemed(3), 9, 'approval-service'))).toEqual({
      ...GIVEN,
      used: 3,
      usedSeq: 9,
    }));
  it('ends by whom, when and why', () => {
    const end = { by: 'olga', at: AT, seq: 8 };
    expect(after(recorded(issued(), 7), recorded(ended(), 8, 'olga'))).toEqual({ ...GIVEN, end });
    expect(after(recorded(issued(), 7), recorded(ended('enough'), 8, 'olga'))?.end).toEqual({
      ...end,
      reason: 'enough',
    });
  });
  it('is none before it is given', () => expect(after(recorded(redeemed(1), 1), recorded(ended(), 2))).toBeUndefined());
  it('is left as it is by anything else', () => {
    const frozen: HoldpointEvent = { type: 'FreezeSwitched', data: { on: true, reason: 'drill', n: 1 } };
    expect(after(recorded(issued(), 7), recorded(frozen, 8))).toEqual(GIVEN);
  });
});

describe('its status', () => {
  const status = (more: Partial<Grant>, second = 0) => grantStatus({ ...GIVEN, ...more }, later(NOON, second));
  it('is active to the very end of its time', () => expect(status({}, 59.999)).toBe('active'));
  it('is expired from then on', () => expect(status({}, 60)).toBe('expired'));
  it('is used up with its last use', () =>
    expect([status({ used: 1 }), status({ used: 2 })]).toEqual(['active', 'used-up']));
  it('is ended, whatever else it is', () =>
    expect(status({ used: 2, end: { by: 'ada', at: AT, seq: 9 } }, 60)).toBe('ended'));
  it('is expired rather than used up', () => expect(status({ used: 2 }, 60)).toBe('expired'));
});

describe('read from the log', () => {
  const logOf = (...events: readonly HoldpointEvent[]) => {
    const facts = events.map((event, index) => recorded(event, index + 1));
    const asked: string[] = [];
    const isUnder = (filter: string, subject: string) =>
      filter.endsWith('*') ? subject.startsWith(filter.slice(0, -1)) : subject === filter;
    const last = (filter: string) => {
      asked.push(filter);
      return Promise.resolve(facts.findLast(({ subject }) => isUnder(filter, subject)));
    };
    return { asked, last, next: () => Promise.reject(new Error('not one by one')) };
  };

  it('it is as its facts tell it, and not as those of another', async () => {
    const log = logOf(issued(), issued(OTHER), redeemed(1), redeemed(2), redeemed(1, OTHER), ended('enough'));
    expect(await readGrant(log, TENANT, ID)).toEqual({
      ...GIVEN,
      seq: 1,
      used: 2,
      usedSeq: 4,
      end: { by: 'ada', at: AT, seq: 6, reason: 'enough' },
    });
    expect(await readGrant(log, TENANT, OTHER)).toMatchObject({ used: 1, usedSeq: 5 });
    expect((await readGrant(log, TENANT, OTHER))?.end).toBeUndefined();
  });
  it('it is none of another tenant', async () =>
    expect(await readGrant(logOf(issued()), 'acme' as Tenant, ID)).toBeUndefined());
  it('it is none where only uses are', async () =>
    expect(await readGrant(logOf(redeemed(1)), TENANT, ID)).toBeUndefined());
  it('its end is there, or not', async () => {
    expect(await readGrantEnd(logOf(issued()), TENANT, ID)).toBeUndefined();
    expect(await readGrantEnd(logOf(issued(), ended('enough')), TENANT, ID)).toMatchObject({ reason: 'enough' });
  });
  it('it costs three reads, however often it was used', async () => {
    const log = logOf(issued(), redeemed(1), redeemed(2));
    await readGrant(log, TENANT, ID);
    expect(log.asked).toEqual([
      subjects.issued(TENANT, ID),
      subjects.redemptions(TENANT, ID),
      subjects.over(TENANT, ID),
    ]);
  });
});
