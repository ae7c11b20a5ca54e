import type { DecideApproval } from '#contracts/approvals/commands';
import type { ToolApprovalDecided } from '#contracts/approvals/events';
import { digestOf } from '#contracts/canonical';
import type { HoldpointEvent } from '#contracts/events';
import { isSamePerson, type Instant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Decision } from '#fold/approval';
import { closingOf } from '#fold/closing';
import { isOneAct } from '#policy/asked';
import { mayNotDecide } from '#policy/may-decide';
import { expiresAt } from '#policy/times';
import { standing } from '#policy/votes';
import { BECOMES, saysTheSame, usableFrom, wordsOf } from './answer.js';
import {
  decisionOn,
  isForPolicy,
  knownCall,
  notFound,
  onCall,
  readUndecided,
  winnerOf,
  type ByCaller,
  type CallRule,
  type CallState,
  type KnownCall,
} from './call.js';
import { castVote } from './cast-vote.js';
import { editOf, invalidEdit, meantBy, misplacedField, oversized, type Edit } from './edit.js';
import { notRemembered, rememberedOf } from './remember.js';

type Context = ByCaller & { readonly now: Instant };

/** A person's answer: the decision where one act suffices, else their vote. After a decision everybody is told which it was. */
export function decideApproval(
  command: DecideApproval,
  state: CallState,
  context: Context,
): Answer<HoldpointEvent, Refusal> {
  const { caller, now } = context;
  const known = knownCall(command, state);
  if (!known) return refuse(notFound());
  const { turn, call, approval, ruling } = known;
  if (approval.decision) return afterDecision(command, approval.decision, { known, caller });
  if (turn.end) return refuse(refusal('turn-ended', `The turn is ${turn.end.status}: there is nothing left to decide`));
  if (isForPolicy(known)) return refuse(refusal('superseded', 'The policy decides this one'));
  const deadline = expiresAt(ruling.requirement, turn.request, turn.requestedAt);
  if (now >= deadline && !closingOf(approval.steps))
    return refuse(refusal('late', `It could be decided until ${deadline}`, { at: deadline }));
  const notTheirs = mayNotDecide(known, caller, 'answer');
  if (notTheirs) return refuse(notTheirs);
  const edit = editOf(command, standing(approval.steps, call).proposal);
  const invalid =
    misplacedField(command) ??
    oversized(command) ??
    invalidEdit(edit, known, caller) ??
    notRemembered(command, known, caller);
  if (invalid) return refuse(invalid);

  if (!isOneAct(ruling.requirement)) return castVote(command, { known, edit }, context);
  if (command.argsDigest !== undefined && command.argsDigest !== call.argsDigest)
    return refuse(refusal('arguments-changed', 'The arguments are not those that you saw'));
  return accept({ type: 'ToolApprovalDecided', data: decided(command, known, { edit, caller, now }) });
}

function decided(
  command: DecideApproval,
  known: KnownCall,
  { edit, caller, now }: Context & { readonly edit: Edit | undefined },
): ToolApprovalDecided {
  const { decision } = command;
  return {
    ...decisionOn(known, command),
    decision: BECOMES[decision],
    ...wordsOf(command),
    ...(edit === undefined ? {} : { editedArgs: edit.args, argsDigest: edit.digest }),
    ...(decision === 'approve' ? usableFrom(known, now) : {}),
    ...rememberedOf(command, known, { caller, now }),
  };
}

interface Mine {
  readonly known: KnownCall;
  readonly caller: Caller;
}

function afterDecision(command: DecideApproval, decision: Decision, mine: Mine): Answer<never, Refusal> {
  if (isSame(command, decision, mine)) return nothingToDo;
  if (decision.is === 'expired')
    return refuse(refusal('late', 'It expired before anybody decided', { at: decision.at }));
  return refuse(refusal('superseded', `It was ${decision.is} already`, { winner: winnerOf(decision) }));
}

function isSame(command: DecideApproval, decision: Decision, { known, caller }: Mine): boolean {
  const byMe = decision.byKind === 'person' && isSamePerson(decision.by, caller.subject);
  // What was asked is the same whichever of their tokens said it.
  const by = { ...caller, groups: decision.remember?.groups ?? [] };
  const { remember } = rememberedOf(command, known, { caller: by, now: decision.at });
  return (
    byMe &&
    decision.is === BECOMES[command.decision] &&
    decision.argsDigest === meantBy(command, known.call) &&
    saysTheSame(command, decision) &&
    digestOf(remember ?? null) === digestOf(decision.remember ?? null)
  );
}

export const deciding: CallRule<DecideApproval, ByCaller> = (policies) => ({
  ...onCall(decideApproval)(policies),
  assume: readUndecided(policies),
});
