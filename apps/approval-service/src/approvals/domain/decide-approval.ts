import type { AnswerKind, DecideApproval } from '#contracts/approvals/commands';
import type { DecisionKind, ToolApprovalDecided } from '#contracts/approvals/events';
import { digestOf } from '#contracts/canonical';
import type { HoldpointEvent } from '#contracts/events';
import { samePerson, type Instant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import type { Decision } from '#fold/approval';
import { isOwnRequest } from '#fold/permission';
import { expiresAt } from '#fold/requirement';
import {
  conversationOf,
  decisionOn,
  knownCall,
  notFound,
  readCall,
  readUndecided,
  winnerOf,
  type ByCaller,
  type CallState,
  type KnownCall,
} from './call.js';
import { editOf, invalidEdit, misplacedField, oversized, type Edit } from './edit.js';

const BECOMES = {
  approve: 'approved',
  deny: 'denied',
  respond: 'responded',
  cancel: 'cancelled',
} as const satisfies Record<AnswerKind, DecisionKind>;

type Context = ByCaller & { readonly now: Instant };

/** A person's answer. The first one is the answer for ever; everybody after it is told which it was. */
export function decideApproval(
  command: DecideApproval,
  state: CallState,
  { caller, now }: Context,
): Answer<HoldpointEvent, Refusal> {
  const known = knownCall(command, state);
  if (!known) return refuse(notFound());
  const { turn, call, approval } = known;
  const edit = editOf(command, call);

  if (approval.decision)
    return afterDecision(command, approval.decision, { caller, argsDigest: edit?.digest ?? call.argsDigest });
  if (turn.end) return refuse(refusal('turn-ended', `The turn is ${turn.end.status}: there is nothing left to decide`));
  const deadline = expiresAt(turn.request, turn.requestedAt);
  if (now >= deadline) return refuse(refusal('late', `It could be decided until ${deadline}`, { at: deadline }));
  if (isOwnRequest(caller.subject, turn))
    return refuse(refusal('self-approval', 'Nobody decides what they asked for themselves'));
  if (sawOtherArguments(command, call))
    return refuse(refusal('arguments-changed', 'The arguments are not those that you saw'));

  const invalid = misplacedField(command) ?? oversized(command) ?? invalidEdit(edit, call);
  if (invalid) return refuse(invalid);
  return accept({ type: 'ToolApprovalDecided', data: decided(command, known, edit) });
}

const sawOtherArguments = (seen: { argsDigest?: string }, asked: { argsDigest: string }): boolean =>
  seen.argsDigest !== undefined && seen.argsDigest !== asked.argsDigest;

function decided(command: DecideApproval, known: KnownCall, edit: Edit | undefined): ToolApprovalDecided {
  const { decision, reason, response } = command;
  return {
    ...decisionOn(known, command),
    decision: BECOMES[decision],
    ...(reason === undefined ? {} : { reason }),
    ...(response === undefined ? {} : { response }),
    ...(edit === undefined ? {} : { editedArgs: edit.args, argsDigest: edit.digest }),
  };
}

interface Mine {
  readonly caller: Caller;
  /** Of the arguments that this answer would have let run. */
  readonly argsDigest: string;
}

function afterDecision(command: DecideApproval, decision: Decision, mine: Mine): Answer<never, Refusal> {
  if (isSame(command, decision, mine)) return nothingToDo;
  if (decision.is === 'expired')
    return refuse(refusal('late', 'It expired before anybody decided', { at: decision.at }));
  return refuse(refusal('superseded', `It was ${decision.is} already`, { winner: winnerOf(decision) }));
}

function isSame(command: DecideApproval, decision: Decision, { caller, argsDigest }: Mine): boolean {
  const byMe = decision.byKind === 'person' && samePerson(decision.by) === samePerson(caller.subject);
  const { reason, response } = decision;
  return (
    byMe &&
    decision.is === BECOMES[command.decision] &&
    decision.argsDigest === argsDigest &&
    digestOf({ reason, response }) === digestOf({ reason: command.reason, response: command.response })
  );
}

export const deciding: Rule<DecideApproval, CallState, ByCaller> = {
  read: readCall,
  assume: readUndecided,
  decide: decideApproval,
  correlate: conversationOf,
};
