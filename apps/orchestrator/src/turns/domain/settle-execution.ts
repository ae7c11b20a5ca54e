import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { SettleExecution } from '#contracts/turns/commands';
import { accept, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { isAlive } from '#fold/lease';
import { isOwnRequest } from '#fold/permission';
import { isInDoubt, leaseOfCall } from '#fold/status';
import type { PoliciesInForce } from '#policy/in-force';
import { isFreeAgain } from '#policy/run-again';
import {
  correlateExecution,
  knownExecution,
  misplacedResult,
  neverBegan,
  noSuchApproval,
  oversizedResult,
  readExecution,
  winnerOf,
  type ExecutionState,
} from './outcome-state.js';
import type { ByCaller } from './turn-state.js';

type Context = ByCaller & { readonly now: Instant };

/** A person says what became of a tool that began and was never heard of again. Never who asked for it. */
export function settleExecution(
  command: SettleExecution,
  state: ExecutionState,
  { caller, now }: Context,
): Answer<HoldpointEvent, Refusal> {
  const known = knownExecution(command, state);
  if (!known) return refuse(noSuchApproval());
  const { turn, approval } = known;
  const no = misplacedResult(command) ?? oversizedResult(command);
  if (no) return refuse(no);
  if (approval.use?.is !== 'started') return refuse(neverBegan(approval));
  if (isOwnRequest(caller.subject, turn))
    return refuse(refusal('self-approval', 'Who asked for a tool call does not settle it'));
  const { outcome } = approval;
  if (outcome)
    return refuse(refusal('superseded', `${outcome.by} reported or settled it before`, { winner: winnerOf(outcome) }));
  if (!isInDoubt(turn, approval, now))
    return refuse(refusal('not-ready', 'The worker that began it still has time to report'));
  if (isFreeAgain(known) && isAlive(leaseOfCall(turn, approval), now))
    return refuse(refusal('not-ready', 'The policy lets another worker run it again, and that one has time to report'));
  const { attempt } = approval.use;
  const data = { approvalId: command.approvalId, attempt, settledBecause: command.reason };
  return command.ok
    ? accept({ type: 'ToolExecutionSucceeded', data: { ...data, result: command.result ?? null } })
    : accept({ type: 'ToolExecutionFailed', data: { ...data, error: command.error ?? null } });
}

export const settling = (policies: PoliciesInForce): Rule<SettleExecution, ExecutionState, ByCaller> => ({
  read: readExecution(policies),
  decide: settleExecution,
  correlate: correlateExecution,
});
