import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import type { GrantIssued } from '#contracts/grants/events';
import { grantIdOf, type ApprovalId, type GrantId } from '#contracts/ids';
import type { Grant, GrantEnd } from '#fold/grant';
import { schemaDigestOf } from '#policy/grants';
import { knownCall, type CallState, type KnownCall } from './call.js';
import { after, CALL, DAY, decided, NOON, requested, stateAfter, TENANT, type Told } from './stories-for-spec.js';

export const GRANT = grantIdOf(TENANT, 'test');

const terms = (more: Partial<GrantIssued> = {}): GrantIssued => ({
  grantId: GRANT,
  scope: { tool: 'pay' },
  schemaDigest: schemaDigestOf({}),
  expiresAt: after(30 * DAY),
  maxUses: 2,
  groups: [],
  ...more,
});

const byPerson = (event: Told['event'], by: string): Told => ({ event, by, kind: 'person', at: NOON });

export const granted = (more: Partial<GrantIssued> = {}, by = 'ada'): Told =>
  byPerson({ type: 'GrantIssued', data: terms(more) }, by);

export const over = (reason?: string, by = 'ada', grantId: GrantId = GRANT): Told =>
  byPerson({ type: 'GrantEnded', data: { grantId, ...(reason === undefined ? {} : { reason }) } }, by);

export const redeemed = (n: number, approvalId: ApprovalId = CALL, grantId: GrantId = GRANT): Told => ({
  event: { type: 'GrantRedeemed', data: { grantId, n, approvalId } },
  by: 'approval-service',
  kind: 'service',
  at: after(50),
});

export const frozen = (on = true, n = 1): Told =>
  byPerson({ type: 'FreezeSwitched', data: { on, reason: 'drill', n } }, 'olga');

/** As the log tells it, given before anything was asked. */
export const grantOf = (more: Partial<Grant> = {}): Grant => ({
  ...terms(),
  by: 'ada',
  at: NOON,
  seq: 0,
  used: 0,
  usedSeq: 0,
  ...more,
});

export const END: GrantEnd = { by: 'olga', at: after(95), seq: 9, reason: 'enough' };

export const approvedByGrant = decided(
  'approved',
  GRANT,
  { grant: { grantId: GRANT, n: 1, by: 'ada' }, usableUntil: after(60 + DAY) },
  'grant',
);

export function callAfter(state: CallState): KnownCall {
  const known = knownCall({ approvalId: CALL }, state);
  if (!known) throw new Error('This story asks for no call');
  return known;
}

export const callOf = (
  call: Partial<RequestedToolCall> = {},
  request: Partial<ToolApprovalRequested> = {},
): KnownCall => callAfter(stateAfter(requested(request, call)));
