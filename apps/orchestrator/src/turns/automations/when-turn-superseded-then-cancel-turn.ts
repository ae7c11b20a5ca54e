import type { Automation } from '#automation/run-automation';
import { turnKeyOf } from '#contracts/ids';
import { handleCommand, type LogServices } from '#event-log/handle-command';
import { Unavailable } from '#decider/unavailable';
import { superseding } from '../domain/end-turn.js';

/** A new turn that names the one it supersedes cancels it. That one was there when the new one was opened: a log that lacks it is behind. */
export const whenTurnSupersededThenCancelTurn = (services: LogServices): Automation => ({
  durable: 'orchestrator',
  react: async ({ tenant, event, eventId }) => {
    if (event.type !== 'ToolApprovalRequested' || event.data.supersedes === undefined) return;
    const { conversationId, turnId, supersedes } = event.data;
    const { state } = await handleCommand(services, superseding, {
      command: { turnKey: turnKeyOf(tenant, conversationId, supersedes), supersededBy: turnId },
      context: {},
      tenant,
      actor: { kind: 'service', id: 'orchestrator', via: 'reaction:turn-superseded' },
      causationId: eventId,
    });
    if (state.state === 'unknown') throw new Unavailable('The log does not show yet the turn whose place was taken');
  },
});
