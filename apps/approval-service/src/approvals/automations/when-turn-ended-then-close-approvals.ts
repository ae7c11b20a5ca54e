import type { Automation } from '#automation/run-automation';
import { Unavailable } from '#decider/unavailable';
import type { JudgingServices } from '../approval-services.js';
import { closeTurnApprovals } from '../close-turn-approvals.js';

/** Finishes what a canceller, or a worker that ended its turn, left: open approvals are cancelled, unused ones taken back. */
export const whenTurnEndedThenCloseApprovals = (services: JudgingServices): Automation => ({
  durable: 'approvals',
  react: async ({ tenant, event }) => {
    if (event.type !== 'TurnEnded') return;
    const closed = await closeTurnApprovals(services, tenant, event.data.turnKey);
    if (!closed.ok)
      throw new Unavailable(`The log does not show yet what was delivered from it: ${closed.refusal.detail}`);
  },
});
