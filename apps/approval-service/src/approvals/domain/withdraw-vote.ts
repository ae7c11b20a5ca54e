import type { WithdrawVote } from '#contracts/approvals/commands';
import { refusal, type Refusal } from '#contracts/refusals';
import { refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { conversationOf, knownCall, notFound, readCall, winnerOf, type ByCaller, type CallState } from './call.js';

/** Where one approver suffices a decision is one act: nobody has a vote that could be withdrawn. */
export function withdrawVote(command: WithdrawVote, state: CallState): Answer<never, Refusal> {
  const known = knownCall(command, state);
  if (!known) return refuse(notFound());
  const { decision } = known.approval;
  if (!decision) return refuse(refusal('not-found', 'You have no vote here'));
  if (decision.is === 'expired')
    return refuse(refusal('late', 'It expired before anybody decided', { at: decision.at }));
  return refuse(refusal('superseded', `It was ${decision.is} already`, { winner: winnerOf(decision) }));
}

export const withdrawing: Rule<WithdrawVote, CallState, ByCaller> = {
  read: readCall,
  decide: withdrawVote,
  correlate: conversationOf,
};
