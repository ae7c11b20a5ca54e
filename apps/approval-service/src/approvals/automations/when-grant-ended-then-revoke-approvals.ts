import type { Automation } from '#automation/run-automation';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { GrantId } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import { Unavailable } from '#decider/unavailable';
import { readGrant } from '#fold/grant';
import type { JudgingServices } from '../approval-services.js';
import { takeBackGranted } from '../take-back-granted.js';

const AT_ONCE = 16;

/** What the grant approved and nobody has used yet is taken back, the newest first, in the name of whoever ended it. */
export const whenGrantEndedThenRevokeApprovals = (services: JudgingServices): Automation => ({
  durable: 'grants',
  react: async (fact) => {
    if (fact.event.type === 'GrantEnded') await revokeAll(services, fact, fact.event.data.grantId);
  },
});

async function revokeAll(services: JudgingServices, fact: Recorded<HoldpointEvent>, id: GrantId): Promise<void> {
  const grant = await readGrant(services.log, fact.tenant, id);
  if (!grant?.end) throw new Unavailable('The log does not show yet what was delivered from it');
  for (let left = grant.used; left > 0; left -= AT_ONCE) {
    const slots = Array.from({ length: Math.min(AT_ONCE, left) }, (_, at) => left - at);
    await Promise.all(slots.map((n) => revokeOne(services, fact, { id, n })));
  }
}

async function revokeOne(
  services: JudgingServices,
  over: Recorded<HoldpointEvent>,
  { id, n }: { readonly id: GrantId; readonly n: number },
): Promise<void> {
  const redeemed = await services.log.last(subjects.redemption(over.tenant, id, n));
  if (redeemed?.event.type !== 'GrantRedeemed') throw new Unavailable(`The log does not show use ${n} of ${id}`);
  const { approvalId } = redeemed.event.data;
  const used = await services.log.last(subjects.use(over.tenant, approvalId));
  if (!used) await takeBackGranted(services, over, approvalId);
}
