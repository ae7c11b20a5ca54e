import type { UseApproval } from '#contracts/approvals/commands';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { refusal, type Reason, type Refusal } from '#contracts/refusals';
import { mayUseServer } from '#contracts/roles';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import { isAlive, isHeldBy } from '#fold/lease';
import { modelText } from '#fold/model-text';
import { isAgentOf } from '#fold/permission';
import { leaseOfCall } from '#fold/status';
import { usableUntil } from '#fold/usable';
import { isFreeAgain } from '#policy/run-again';
import {
  knownCall,
  notFound,
  onCall,
  readCallToUse,
  winnerOf,
  type ByCaller,
  type CallRule,
  type CallState,
  type KnownCall,
} from './call.js';

type Context = ByCaller & { readonly now: Instant };
type More = Parameters<typeof refusal>[2];

/**
 * The one right to run the tool, given once, to whoever has the continuation and runs exactly what was approved. Where the policy
 * lets what an earlier attempt began run twice, the latest has the same right without a fact of its own.
 */
export function useApproval(command: UseApproval, state: CallState, context: Context): Answer<HoldpointEvent, Refusal> {
  const known = knownCall(command, state);
  if (!known) return refuse({ ...notFound(), modelText: 'The tool did not run: there is no approval for it.' });
  const no =
    notAllowed(known, context) ??
    notUsable(command, known, context.now) ??
    frozen(known) ??
    withoutGrant(known) ??
    notByThisWorker(command, known, context);
  if (no) return refuse(no);
  if (known.approval.use) return nothingToDo;
  const { approvalId, attempt, workerId, argsDigest } = command;
  const { tokenId } = context.caller;
  const { grant } = known.approval.decision ?? {};
  const by = grant ? { grantId: grant.grantId } : {};
  return accept({ type: 'ToolExecutionStarted', data: { approvalId, attempt, workerId, tokenId, argsDigest, ...by } });
}

function notAllowed(known: KnownCall, { caller }: Context): Refusal | undefined {
  const { turn, call } = known;
  const no = (detail: string) => refusing(known, 'forbidden', { detail, why: 'this worker may not run it' });
  if (!isAgentOf(caller, turn)) return no('The turn is not of an agent and pool that this token speaks for');
  if (!mayUseServer(caller, call.server)) return no('This token does not reach the server that the tool is on');
  return undefined;
}

/** What became of the approval itself, whoever asks. */
function notUsable({ attempt }: UseApproval, known: KnownCall, now: Instant): Refusal | undefined {
  const { turn, call, approval } = known;
  const { decision, use } = approval;
  const no = (reason: Reason, detail: string, more: More) =>
    refusal(reason, detail, { modelText: modelText(call.toolName, approval), ...more });
  const said = (reason: Reason, detail: string, why: string, more?: More) =>
    refusing(known, reason, { detail, why, more });

  const isAgain = use?.is === 'started' && use.attempt !== attempt && isFreeAgain(known);
  if (use?.is === 'started' && !isAgain)
    return said('already-used', `${use.by} began it at ${use.at}`, 'its approval was used already', {
      by: use.by,
      at: use.at,
    });
  if (use?.is === 'revoked') return no('revoked', `${use.by} took the approval back`, { by: use.by, at: use.at });
  if (use?.is === 'lapsed') return no('lapsed', 'The approval was not used in time', { at: use.at });
  if (turn.end) return said('turn-ended', `The turn is ${turn.end.status}`, 'the turn has ended');
  if (!decision) return no('not-ready', 'It is not decided yet', {});
  if (decision.is !== 'approved') return no('superseded', `It was ${decision.is}`, { winner: winnerOf(decision) });
  if (isAgain) return undefined;
  const until = usableUntil(decision);
  if (now >= until)
    return said('lapsed', `It could be used until ${until}`, 'it was approved, but not begun in time', { at: until });
  return undefined;
}

function frozen(known: KnownCall): Refusal | undefined {
  const { freeze } = known;
  if (!freeze) return undefined;
  const { by, at, reason } = freeze;
  const why = 'its use is frozen for now';
  return refusing(known, 'frozen', { detail: `${by} has frozen it: ${reason}`, why, more: { by, at } });
}

/** Before the reaction to its end has taken back what it approved, too; what began in time may be run to its end. */
function withoutGrant(known: KnownCall): Refusal | undefined {
  const { grantEnd, approval } = known;
  if (!grantEnd || approval.use) return undefined;
  const { by, at } = grantEnd;
  const why = 'the standing approval that it had was ended';
  return refusing(known, 'revoked', {
    detail: `${by} ended the grant that approved it`,
    why,
    more: { by, at },
  });
}

/** The attempt only spares work; that a tool runs once is the promise of the fact's one subject (design 4.10). */
function notByThisWorker(command: UseApproval, known: KnownCall, { caller, now }: Context): Refusal | undefined {
  const { turn, approval } = known;
  const { attempt, workerId, argsDigest } = command;
  const lease = leaseOfCall(turn, approval);
  const no = (reason: Reason, detail: string, why: string) => refusing(known, reason, { detail, why });
  if (argsDigest !== approval.decision?.argsDigest)
    return no(
      'arguments-changed',
      'These are not the arguments that were approved',
      'its arguments are not those that were approved',
    );
  if (!isHeldBy(lease, { attempt, workerId, tokenId: caller.tokenId }))
    return no(
      'stale-attempt',
      'Another worker or attempt has this continuation',
      'another worker has this conversation now',
    );
  if (!isAlive(lease, now))
    return no('stale-attempt', 'The lease is over: extend it first, or resume', 'the time of this worker is over');
  return undefined;
}

interface Words {
  /** For people. */
  readonly detail: string;
  /** For the model. */
  readonly why: string;
  readonly more?: More;
}

function refusing({ call, approval }: KnownCall, reason: Reason, { detail, why, more }: Words): Refusal {
  const ran = approval.use?.is === 'started' ? 'did not run again' : 'did not run';
  return refusal(reason, detail, { modelText: `The tool ${JSON.stringify(call.toolName)} ${ran}: ${why}.`, ...more });
}

export const using: CallRule<UseApproval, ByCaller> = onCall(useApproval, readCallToUse);
