import type { DecideApproval } from '#contracts/approvals/commands';
import { MOST_VOTES, type ApprovalVoteCast } from '#contracts/approvals/events';
import type { HoldpointEvent } from '#contracts/events';
import { later, type Instant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Step, VoteStep } from '#fold/approval';
import { closingOf } from '#fold/closing';
import { denialsNeeded, isAskedNowByAny, quorumsNow } from '#policy/asked';
import { nearer } from '#policy/quorum';
import { isBy, standing, type Standing } from '#policy/votes';
import { BECOMES, saysTheSame, wordsOf } from './answer.js';
import type { ByCaller, KnownCall } from './call.js';
import type { Edit } from './edit.js';
import { approvalsThatCount, closedAlready, tallyOf } from './tally.js';

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
  const argsDigest = edit?.digest ?? command.argsDigest ?? call.argsDigest;
  const mine = [...before.approvals, ...before.denials].find((vote) => isBy(vote, caller.subject));
  const vote = voteOf(command, { known, edit }, { caller, argsDigest });
  const isAgain = mine !== undefined && isSame(command, argsDigest, mine);
  if (isAgain && !countsNow(vote, known, { caller, now })) return nothingToDo;
  const closing = closingOf(approval.steps);
  if (closing) return refuse(closedAlready(closing));
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
  const seen = command.argsDigest ?? (edit ? before.proposal.argsDigest : call.argsDigest);
  if (seen !== before.proposal.argsDigest) return refusal('arguments-changed', changedBy(before));
  const approvals = edit ? [] : approvalsThatCount(known, before);
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

/** The votes that stand once this one is in the story. */
function standingWith(vote: ApprovalVoteCast, { approval, call }: KnownCall, { caller, now }: Context): Standing {
  const { approvalId: _, ...data } = vote;
  const step: Step = { is: 'vote', ...data, by: caller.subject, at: now, seq: 0, eventId: '' };
  return standing([...approval.steps, step], call);
}

/** One after the other: a vote that came too early, because one before it was withdrawn since, can be cast again. */
function countsNow(vote: ApprovalVoteCast, known: KnownCall, by: Context): boolean {
  const before = tallyOf(known, standing(known.approval.steps, known.call));
  return nearer(before, tallyOf(known, standingWith(vote, known, by))) !== before;
}

/** What the story has come to with this vote in it. */
function closes(vote: ApprovalVoteCast, known: KnownCall, by: Context): Pick<ApprovalVoteCast, 'closes' | 'heldUntil'> {
  const { requirement } = known.ruling;
  const after = standingWith(vote, known, by);
  if (vote.vote !== 'approve')
    return after.denials.length >= denialsNeeded(requirement) ? { closes: BECOMES[vote.vote] } : {};
  if (!tallyOf(known, after).met) return {};
  const { holdSeconds } = requirement;
  return { closes: 'approved', ...(holdSeconds === undefined ? {} : { heldUntil: later(by.now, holdSeconds) }) };
}
