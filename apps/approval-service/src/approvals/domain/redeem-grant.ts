import type { HoldpointEvent } from '#contracts/events';
import type { GrantRedeemed } from '#contracts/grants/events';
import type { ApprovalId, GrantId, Instant, Tenant } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { Unavailable } from '#decider/unavailable';
import type { Rule } from '#event-log/handle-command';
import { grantStatus, readGrant, type Grant } from '#fold/grant';
import type { FactReader } from '#fold/read';

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
  read: async (log, tenant, command) => {
    const grant = await readGrant(log, tenant, command.grantId);
    return { grant, mine: grant && (await useFor(log, tenant, command, grant)) };
  },
  decide: redeemGrant,
  correlate: ({ grantId }) => grantId,
};

/** Down from the last use to those from before the request; without a gap, since any could be this one. Each is kept once it was read. */
async function useFor(
  log: FactReader,
  tenant: Tenant,
  { grantId, approvalId, requestSeq }: RedeemGrant,
  { used, usedSeq }: Grant,
): Promise<GrantRedeemed | undefined> {
  for (let n = used, seq = usedSeq; n > 0 && seq > requestSeq; n -= 1) {
    const fact = await log.last(subjects.redemption(tenant, grantId, n));
    if (fact?.event.type !== 'GrantRedeemed') throw new Unavailable(`The log does not show use ${n} of ${grantId}`);
    if (fact.event.data.approvalId === approvalId) return fact.event.data;
    seq = fact.seq;
  }
  return undefined;
}
