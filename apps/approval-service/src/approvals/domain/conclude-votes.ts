import type { ToolApprovalDecided } from '#contracts/approvals/events';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { closingOf, type Closing } from '#fold/closing';
import { lastWord } from '#policy/tally';
import { standing } from '#policy/votes';
import { usableFrom, wordsOf } from './answer.js';
import {
  decisionOn,
  knownCall,
  onCall,
  type AboutCall,
  type CallRule,
  type CallState,
  type KnownCall,
} from './call.js';

/** The votes closed it, and nothing holds it any more: the decision that follows, whoever sees it first. */
export function concludeVotes(
  command: AboutCall,
  state: CallState,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  const closing = closingOf(state.approval.steps);
  if (!known || known.approval.decision || !closing || closing.heldUntil !== undefined) return nothingToDo;
  return accept({ type: 'ToolApprovalDecided', data: concluded(command, known, closing, now) });
}

function concluded(command: AboutCall, known: KnownCall, closing: Closing, now: Instant): ToolApprovalDecided {
  const { as } = closing;
  const { proposal } = standing(known.approval.steps, known.call);
  const isEdited = as === 'approved' && proposal.args && proposal.argsDigest !== known.call.argsDigest;
  const edit = isEdited ? { editedArgs: proposal.args, argsDigest: proposal.argsDigest } : {};
  return {
    ...decisionOn(known, command),
    decision: as,
    ...wordsOf(lastWord(closing, known)),
    ...edit,
    ...(as === 'approved' ? usableFrom(known, now) : {}),
  };
}

export const concluding: CallRule<AboutCall, object> = onCall(concludeVotes);
