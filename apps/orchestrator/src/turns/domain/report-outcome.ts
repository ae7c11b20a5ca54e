import { canonicalJson } from '#contracts/canonical';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant, TokenId } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { ReportOutcome } from '#contracts/turns/commands';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import type { Outcome } from '#fold/approval';
import { isAlive, isHeldBy } from '#fold/lease';
import { isAgentOf } from '#fold/permission';
import { leaseOfCall } from '#fold/status';
import type { PoliciesInForce } from '#policy/in-force';
import { isFreeAgain, mayRunAgain, type JudgedCall } from '#policy/run-again';
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
import { notYours, staleAttempt, type ByCaller } from './turn-state.js';

/**
 * Whoever took the use may report, whatever attempt is the latest and though the turn has ended: a true result is never thrown
 * away. So may the latest attempt where the call is free for it again. The first of them is the outcome; but that the earlier
 * one failed is none while the latest may be running it again.
 */
export function reportOutcome(
  command: ReportOutcome,
  state: ExecutionState,
  { caller, now }: ByCaller & { readonly now: Instant },
): Answer<HoldpointEvent, Refusal> {
  const known = knownExecution(command, state);
  if (!known) return refuse(noSuchApproval());
  if (!isAgentOf(caller, known.turn)) return refuse(notYours());
  const { approval } = known;
  const no =
    misplacedResult(command) ??
    oversizedResult(command) ??
    notByARunner(command, known, { tokenId: caller.tokenId, now });
  if (no) return refuse(no);
  if (approval.outcome) return againstOutcome(command, approval.outcome);
  const { approvalId, attempt, durationMs } = command;
  const data = { approvalId, attempt, ...(durationMs === undefined ? {} : { durationMs }) };
  return command.ok
    ? accept({ type: 'ToolExecutionSucceeded', data: { ...data, result: command.result ?? null } })
    : accept({ type: 'ToolExecutionFailed', data: { ...data, error: command.error ?? null } });
}

interface By {
  readonly tokenId: TokenId;
  readonly now: Instant;
}

function notByARunner(
  { attempt, workerId, ok }: ReportOutcome,
  known: JudgedCall,
  { tokenId, now }: By,
): Refusal | undefined {
  const { turn, approval } = known;
  const { use } = approval;
  if (use?.is !== 'started') return neverBegan(approval);
  const lease = leaseOfCall(turn, approval);
  if (use.attempt === attempt && use.workerId === workerId && use.tokenId === tokenId) {
    const mayBeRunning = !turn.end && isAlive(lease, now) && isFreeAgain(known);
    return ok || !mayBeRunning ? undefined : staleAttempt('A later attempt may be running this tool again');
  }
  const isLatest = isHeldBy(lease, { attempt, workerId, tokenId });
  if (isLatest && mayRunAgain(known)) return undefined;
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

export const reporting = (policies: PoliciesInForce): Rule<ReportOutcome, ExecutionState, ByCaller> => ({
  read: readExecution(policies),
  decide: reportOutcome,
  correlate: correlateExecution,
});
