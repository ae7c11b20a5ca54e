import type { WithdrawVote } from '#contracts/approvals/commands';
import { MOST_VOTES } from '#contracts/approvals/events';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Step } from '#fold/approval';
import { closingOf, type Closing } from '#fold/closing';
import { mayNotDecide } from '#policy/may-decide';
import { tallyOf, withStep } from '#policy/tally';
import { isBy, standing } from '#policy/votes';
import {
  knownCall,
  notFound,
  onCall,
  winnerOf,
  type ByCaller,
  type CallRule,
  type CallState,
  type KnownCall,
} from './call.js';
import { closedAlready, isHeld } from './closed-already.js';

type Context = ByCaller & { readonly now: Instant };

/** Takes back one's own vote while it is open, or held. Where one act decided, nobody has a vote. */
export function withdrawVote(
  command: WithdrawVote,
  state: CallState,
  { caller, now }: Context,
): Answer<HoldpointEvent, Refusal> {
  const known = knownCall(command, state);
  if (!known) return refuse(notFound());
  const { approval, call, turn } = known;
  const { decision, steps } = approval;
  if (decision?.is === 'expired')
    return refuse(refusal('late', 'It expired before anybody decided', { at: decision.at }));
  if (decision) return refuse(refusal('superseded', `It was ${decision.is} already`, { winner: winnerOf(decision) }));
  const closing = closingOf(steps);
  if (closing && !isHeld(closing, now)) return refuse(closedAlready(closing, known, now));
  if (turn.end) return refuse(refusal('turn-ended', `The turn is ${turn.end.status}: there is nothing left to decide`));
  const { approvals, denials } = standing(steps, call);
  const mine = [...approvals, ...denials].find((vote) => isBy(vote, caller.subject));
  if (!mine && steps.some((step) => step.is === 'withdrawn' && isBy(step, caller.subject))) return nothingToDo;
  if (!mine) return refuse(mayNotDecide(known, caller, 'answer') ?? refusal('not-found', 'You have no vote here'));
  if (steps.length >= MOST_VOTES) return refuse(refusal('conflict', 'It has had more votes than can be counted'));
  const data = { approvalId: command.approvalId, n: steps.length + 1 };
  const step: Step = { is: 'withdrawn', n: data.n, by: caller.subject, at: now, seq: 0, eventId: '' };
  return accept({ type: 'ApprovalVoteWithdrawn', data: { ...data, ...stillHeld(withStep(known, step), closing) } });
}

/** The votes of the others may be enough by themselves. */
const stillHeld = (known: KnownCall, closing: Closing | undefined): { readonly heldUntil?: Instant } =>
  closing?.heldUntil !== undefined && tallyOf(known).met ? { heldUntil: closing.heldUntil } : {};

export const withdrawing: CallRule<WithdrawVote, ByCaller> = onCall(withdrawVote);
