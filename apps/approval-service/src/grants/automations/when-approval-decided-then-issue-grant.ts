import type { Automation } from '#automation/run-automation';
import { handleCommand, type LogServices } from '#event-log/handle-command';
import { issuingRemembered } from '../domain/issue-grant.js';

/** The grant that a decision carries, in the name of whoever decided. */
export const whenApprovalDecidedThenIssueGrant = (services: LogServices): Automation => ({
  durable: 'remembered',
  react: async ({ event, tenant, eventId, actor }) => {
    if (event.type !== 'ToolApprovalDecided' || !event.data.remember) return;
    const { approvalId, remember } = event.data;
    await handleCommand(services, issuingRemembered, {
      tenant,
      command: { ...remember, approvalId },
      context: {},
      causationId: eventId,
      actor: { ...actor, via: 'reaction:remembered' },
    });
  },
});
