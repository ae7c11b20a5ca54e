import type { HoldpointEvent } from '#contracts/events';
import { isApprovalId } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import type { PoliciesInForce } from '#policy/in-force';
import { conversationOf, knownCall, readCall, type AboutCall, type CallState } from './call.js';

export interface FailuresState extends CallState {
  readonly isReported: boolean;
}

/** Rules that gave no answer are a fact, once: a person decides, and whoever wrote them can see why. */
export function reportFailures(command: AboutCall, state: FailuresState): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  if (state.isReported || !known || known.ruling.failures.length === 0) return nothingToDo;
  const { approvalId } = command;
  const { failures, applied } = known.ruling;
  return accept({
    type: 'PolicyEvaluationFailed',
    data: { approvalId, policyVersion: applied.policyVersion, failures: [...failures] },
  });
}

export const reportingFailures = (policies: PoliciesInForce): Rule<AboutCall, FailuresState, object> => ({
  read: async (log, tenant, command) => {
    const { approvalId } = command;
    const reported = isApprovalId(approvalId) && (await log.last(subjects.policyFailure(tenant, approvalId)));
    return { ...(await readCall(policies)(log, tenant, command)), isReported: Boolean(reported) };
  },
  decide: reportFailures,
  correlate: conversationOf,
});
