import type { Recorded } from '#contracts/envelope';
import type { ApprovalId } from '#contracts/ids';
import { handleCommand } from '#event-log/handle-command';
import type { JudgingServices } from './approval-services.js';
import { revokingEndedGrant } from './domain/revoke-ended-grant.js';

/** Of an approval by a grant that has ended, in the name of whoever ended it. */
export async function takeBackGranted(
  services: JudgingServices,
  { tenant, eventId, actor }: Recorded,
  approvalId: ApprovalId,
): Promise<void> {
  await handleCommand(services, revokingEndedGrant(services.policies), {
    tenant,
    command: { approvalId },
    context: {},
    causationId: eventId,
    actor: { ...actor, via: 'reaction:grant-ended' },
  });
}
