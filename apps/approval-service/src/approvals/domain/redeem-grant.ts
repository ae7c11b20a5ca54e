import type { HoldpointEvent } from '#contracts/events';
import type { GrantRedeemed } from '#contracts/grants/events';
import type { ApprovalId, GrantId, Instant } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { grantStatus, readGrant, type Grant } from '#fold/grant';
import { readStory } from '#fold/read';

export interface RedeemGrant {
  readonly grantId: GrantId;
  readonly approvalId: ApprovalId;
  /** Of the request: no use for it was taken before. */
  readonly requestSeq: number;
}

export interface Redeemable {
  readonly grant: Grant | undefined;
  /** The use that was taken for this approval before. */
  readonly mine: GrantRedeemed | undefined;
}

/** The next use, of at most so many: its subject is one, so that no two approvals ever have the same. */
export function redeemGrant(
  { grantId, approvalId }: RedeemGrant,
  { grant, mine }: Redeemable,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  if (!grant || mine || grantStatus(grant, now) !== 'active') return nothingToDo;
  return accept({ type: 'GrantRedeemed', data: { grantId, n: grant.used + 1, approvalId } });
}

export const redeeming: Rule<RedeemGrant, Redeemable, object> = {
  read: async (log, tenant, { grantId, approvalId, requestSeq }) => {
    const grant = await readGrant(log, tenant, grantId);
    const isLater = grant && grant.usedSeq > requestSeq;
    const since = isLater ? await readStory(log, subjects.redemptions(tenant, grantId), requestSeq) : [];
    return { grant, mine: since.map(redemptionOf).find((one) => one?.approvalId === approvalId) };
  },
  decide: redeemGrant,
  correlate: ({ grantId }) => grantId,
};

const redemptionOf = ({ event }: { readonly event: HoldpointEvent }): GrantRedeemed | undefined =>
  event.type === 'GrantRedeemed' ? event.data : undefined;
