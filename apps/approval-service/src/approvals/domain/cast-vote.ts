import type { DecideApproval } from '#contracts/approvals/commands';
import { MOST_VOTES, type ApprovalVoteCast } from '#contracts/approvals/events';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { VoteStep } from '#fold/approval';
import { closingOf } from '#fold/closing';
import { denialsNeeded, isAskedNowByAny, quorumsNow } from '#policy/asked';
import { nearer } from '#policy/quorum';
import { approvalsThatCount, tallyOf, withStep } from '#policy/tally';
import { isBy, standing, type Standing } from '#policy/votes';
import { BECOMES, saysTheSame, wordsOf } from './answer.js';
import type { ByCaller, KnownCall } from './call.js';
import { meantBy, type Edit } from './edit.js';
import { closedAlready, heldFrom } from './closed-already.js';

interface Voting {
  readonly known: KnownCall;
  readonly edit: Edit | undefined;
}

type Context = ByCaller & { readonly now: Instant };

/** One person's say where one is not enough (design 4.5). Whoever may not, or comes too late, was refused before. */
export function castVote(
  command: DecideApproval,
  { known, edit }: Voting,
  { caller, now }: Context,
): Answer<HoldpointEvent, Refusal> {
  const { approval, call } = known;
  const before = standing(approval.steps, call);
  const argsDigest = meantBy(command, call);
  const mine = [...before.approvals, ...before.denials].find((vote) => isBy(vote, caller.subject));
  const vote = voteOf(command, { known, edit }, { caller, argsDigest });
  const isAgain = mine !== undefined && isSame(command, argsDigest, mine);
  if (isAgain && !countsNow(vote, known, { caller, now })) return nothingToDo;
  const closing = closingOf(approval.steps);
  if (closing) return refuse(closedAlready(closing, known, now));
  if (approval.steps.length >= MOST_VOTES)
    return refuse(refusal('conflict', 'It has had more votes than can be counted'));
  const no = command.decision === 'approve' ? cannotApprove(command, { known, edit }, { caller, before }) : undefined;
  if (no) return refuse(no);
  return accept({ type: 'ApprovalVoteCast', data: { ...vote, ...closes(vote, known, { caller, now }) } });
}

const isSame = (command: DecideApproval, argsDigest: string, mine: VoteStep): boolean =>
  mine.vote === command.decision && mine.argsDigest === argsDigest && saysTheSame(command, mine);

/** A vote counts only for the arguments that it names; where it names none, for those that the agent asked for. */
function cannotApprove(
  command: DecideApproval,
  { known, edit }: Voting,
  { caller, before }: { readonly caller: Caller; readonly before: Standing },
): Refusal | undefined {
  const { call, ruling, approval } = known;
  const seen = command.argsDigest ?? (edit ? before.proposal.argsDigest : meantBy(command, call));
  if (seen !== before.proposal.argsDigest) return refusal('arguments-changed', changedBy(before));
  const approvals = edit ? [] : approvalsThatCount(known);
  if (!isAskedNowByAny(quorumsNow(ruling.requirement, approval.steps), approvals, caller))
    return refusal('not-ready', 'Others are asked before you');
  return undefined;
}

const changedBy = ({ proposal: { editor, argsDigest } }: Standing): string =>
  editor === undefined
    ? 'The arguments to approve are not those that you saw'
    : `${editor} changed the arguments: look at them, and say with "argsDigest": "${argsDigest}" that you mean these`;

function voteOf(
  command: DecideApproval,
  { known, edit }: Voting,
  { caller, argsDigest }: { readonly caller: Caller; readonly argsDigest: string },
): ApprovalVoteCast {
  const { approval, turn, ruling } = known;
  return {
    approvalId: command.approvalId,
    n: approval.steps.length + 1,
    vote: command.decision,
    ...wordsOf(command),
    ...(edit === undefined ? {} : { editedArgs: edit.args }),
    argsDigest,
    groups: [...caller.groups],
    requirement: ruling.applied,
    requestSeq: turn.requestSeq,
  };
}

/** As it will be once this vote is in the story. */
function withVote(vote: ApprovalVoteCast, known: KnownCall, { caller, now }: Context): KnownCall {
  const { approvalId: _, ...data } = vote;
  return withStep(known, { is: 'vote', ...data, by: caller.subject, at: now, seq: 0, eventId: '' });
}

/** One after the other: a vote that came too early, because one before it was withdrawn since, can be cast again. */
function countsNow(vote: ApprovalVoteCast, known: KnownCall, by: Context): boolean {
  const before = tallyOf(known);
  return nearer(before, tallyOf(withVote(vote, known, by))) !== before;
}

/** What the story has come to with this vote in it. */
function closes(vote: ApprovalVoteCast, known: KnownCall, by: Context): Pick<ApprovalVoteCast, 'closes' | 'heldUntil'> {
  const after = withVote(vote, known, by);
  if (vote.vote === 'approve') return tallyOf(after).met ? { closes: 'approved', ...heldFrom(known, by.now) } : {};
  const { denials } = standing(after.approval.steps, after.call);
  return denials.length >= denialsNeeded(known.ruling.requirement) ? { closes: BECOMES[vote.vote] } : {};
}
