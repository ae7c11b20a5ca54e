import { canonicalJson } from '#contracts/canonical';
import type { HoldpointEvent } from '#contracts/events';
import { refusal, type Refusal } from '#contracts/refusals';
import type { ReportOutcome } from '#contracts/turns/commands';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import type { Approval, Outcome } from '#fold/approval';
import { isAgentOf } from '#fold/permission';
import {
  correlateExecution,
  knownExecution,
  misplacedResult,
  neverBegan,
  noSuchApproval,
  oversizedResult,
  readExecution,
  winnerOf,
} from './outcome-state.js';
import { notYours, staleAttempt, type ByCaller, type LeasedState } from './turn-state.js';

/** Whoever took the use may report, whatever attempt is the latest and though the turn has ended: a true result is never thrown away. */
export function reportOutcome(
  command: ReportOutcome,
  state: LeasedState,
  { caller }: ByCaller,
): Answer<HoldpointEvent, Refusal> {
  const known = knownExecution(command, state);
  if (!known) return refuse(noSuchApproval());
  if (!isAgentOf(caller, known.turn)) return refuse(notYours());
  const { approval } = known;
  const no = misplacedResult(command) ?? oversizedResult(command) ?? notByItsTaker(command, approval, caller.tokenId);
  if (no) return refuse(no);
  if (approval.outcome) return againstOutcome(command, approval.outcome);
  const { approvalId, attempt, durationMs } = command;
  const data = { approvalId, attempt, ...(durationMs === undefined ? {} : { durationMs }) };
  return command.ok
    ? accept({ type: 'ToolExecutionSucceeded', data: { ...data, result: command.result ?? null } })
    : accept({ type: 'ToolExecutionFailed', data: { ...data, error: command.error ?? null } });
}

function notByItsTaker({ attempt, workerId }: ReportOutcome, approval: Approval, tokenId: string): Refusal | undefined {
  const { use } = approval;
  if (use?.is !== 'started') return neverBegan(approval);
  if (use.attempt === attempt && use.workerId === workerId && use.tokenId === tokenId) return undefined;
  return staleAttempt('Another worker or attempt began this tool, and it alone may report');
}

function againstOutcome(command: ReportOutcome, outcome: Outcome): Answer<HoldpointEvent, Refusal> {
  if (outcome.settled)
    return refuse(refusal('superseded', `${outcome.by} settled it before`, { winner: winnerOf(outcome) }));
  const same = canonicalJson(contentOf(command)) === canonicalJson(contentOf(outcome));
  return same
    ? nothingToDo
    : refuse(refusal('conflict', 'Another outcome was reported before', { winner: winnerOf(outcome) }));
}

const contentOf = ({ ok, ...rest }: { readonly ok: boolean; readonly result?: unknown; readonly error?: unknown }) => ({
  ok,
  content: (ok ? rest.result : rest.error) ?? null,
});

export const reporting: Rule<ReportOutcome, LeasedState, ByCaller> = {
  read: readExecution,
  decide: reportOutcome,
  correlate: correlateExecution,
};
