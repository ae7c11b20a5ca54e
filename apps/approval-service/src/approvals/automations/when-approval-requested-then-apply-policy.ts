import type { Automation } from '#automation/run-automation';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, type ApprovalId } from '#contracts/ids';
import type { ToolApprovalRequested } from '#contracts/turns/events';
import { handleCommand } from '#event-log/handle-command';
import { ruleOn } from '#policy/ruling';
import type { JudgingServices } from '../approval-services.js';
import { escalating } from '../domain/escalate-approval.js';
import { reportingFailures } from '../domain/report-failures.js';
import { applyPolicy, conclude } from '../judge.js';

/**
 * What needs no person is done without one: the policy's own decisions, the escalation of what nobody asked so far could
 * meet, and the decision that votes came to where whoever cast the last of them died.
 */
export const whenApprovalRequestedThenApplyPolicy = (services: JudgingServices): Automation => ({
  durable: 'policies',
  react: async (fact) => {
    const { event, tenant, eventId } = fact;
    if (event.type === 'ToolApprovalRequested') await judgeTurn(services, fact, event.data);
    else if (isStepThatCloses(event))
      await conclude(services, { tenant, command: { approvalId: event.data.approvalId }, causationId: eventId });
  },
});

type Closes = Extract<HoldpointEvent, { type: 'ApprovalVoteCast' | 'ApprovalEscalated' | 'ApprovalHoldEnded' }>;
const isStepThatCloses = (event: HoldpointEvent): event is Closes =>
  event.type === 'ApprovalVoteCast' || event.type === 'ApprovalEscalated' || event.type === 'ApprovalHoldEnded';

async function judgeTurn(
  services: JudgingServices,
  fact: Recorded<HoldpointEvent>,
  request: ToolApprovalRequested,
): Promise<void> {
  const policy = await services.policies.at(fact.tenant, fact.seq);
  for (const [index, call] of request.toolCalls.entries()) {
    const { effect, failures, requirement } = ruleOn(policy, request, call);
    const approvalId = approvalIdOf(request.turnKey, index);
    if (failures.length > 0) await report(services, fact, approvalId);
    if (effect !== 'require')
      await applyPolicy(services, { tenant: fact.tenant, command: { approvalId }, causationId: fact.eventId });
    else if (requirement.escalate) await escalate(services, fact, approvalId);
  }
}

const asService = (fact: Recorded<HoldpointEvent>, approvalId: ApprovalId) => ({
  tenant: fact.tenant,
  command: { approvalId },
  context: {},
  causationId: fact.eventId,
  actor: { kind: 'service', id: 'approval-service', via: 'reaction:requested' } as const,
});

const report = (services: JudgingServices, fact: Recorded<HoldpointEvent>, approvalId: ApprovalId) =>
  handleCommand(services, reportingFailures(services.policies), asService(fact, approvalId));

/** Stage after stage, as long as those who are asked could never be enough. */
async function escalate(services: JudgingServices, fact: Recorded<HoldpointEvent>, approvalId: ApprovalId) {
  const request = asService(fact, approvalId);
  while ((await handleCommand(services, escalating(services.policies), request)).kind === 'recorded');
}
