import { digestOf } from '#contracts/canonical';
import type { HoldpointEvent } from '#contracts/events';
import type { IssueGrant } from '#contracts/grants/commands';
import type { GrantIssued } from '#contracts/grants/events';
import { grantIdOf, later, type Instant, type Tenant, type TokenId } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import type { Fact } from '#contracts/envelope';
import { subjectOf } from '#contracts/subjects';
import type { Grant } from '#fold/grant';

export const TENANT = 'default' as Tenant;
export const GRANT = grantIdOf(TENANT, 'test');
export const NOON = '2026-03-01T12:00:00.000Z' as Instant;
export const after = (seconds: number): Instant => later(NOON, seconds);

export const body: IssueGrant = { scope: { tool: 'pay' }, schemaDigest: digestOf({}) };

export const terms: GrantIssued = { ...body, grantId: GRANT, expiresAt: after(60), maxUses: 2, groups: [] };

export const grant: Grant = { ...terms, by: 'ada', at: NOON, seq: 1, used: 0, usedSeq: 0 };

export const callerOf = (subject: string, more: Partial<Caller> = {}): Caller => ({
  tenant: TENANT,
  tokenId: `tk_${subject}` as TokenId,
  subject,
  roles: ['approver'],
  groups: [],
  ...more,
});

/** As somebody's fact: what a log in memory is told. */
export const factOf = (event: HoldpointEvent, by = 'ada'): Fact<HoldpointEvent> => ({
  event,
  eventId: `e-${subjectOf(TENANT, event)}`.slice(0, 64),
  occurredAt: NOON,
  correlationId: 'test',
  causationId: 'test',
  actor: { kind: 'person', id: by, via: 'token:test' },
  tenant: TENANT,
  subject: subjectOf(TENANT, event),
});
