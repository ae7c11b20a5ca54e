import type { ToolApprovalDecided } from '#contracts/approvals/events';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { closingOf } from '#fold/closing';
import { expiresAt, onExpiryOf } from '#policy/times';
import { isApprovalTakenBack, standing } from '#policy/votes';
import { usableFrom } from './answer.js';
import {
  decisionOn,
  isForPolicy,
  knownCall,
  onCall,
  type AboutCall,
  type CallRule,
  type CallState,
  type KnownCall,
} from './call.js';

/** Nobody decided in time. Written only past the deadline, so that a person before it can never be told `late`. */
export function expireApproval(
  command: AboutCall,
  state: CallState,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  if (!known || known.approval.decision || isForPolicy(known) || closingOf(known.approval.steps)) return nothingToDo;
  const { turn, ruling } = known;
  if (now < expiresAt(ruling.requirement, turn.request, turn.requestedAt)) return nothingToDo;
  return accept({ type: 'ToolApprovalDecided', data: { ...decisionOn(known, command), ...timesAnswer(known, now) } });
}

/** Time approves only where the policy says so, nothing is frozen, and nobody said no, took a yes back, or changed the arguments. */
function timesAnswer(known: KnownCall, now: Instant): Pick<ToolApprovalDecided, 'decision' | 'usableUntil'> {
  const { approval, call, ruling, turn, freeze } = known;
  const { denials, proposal } = standing(approval.steps, call);
  const approves =
    onExpiryOf(ruling.requirement, turn.request) === 'approve' &&
    denials.length === 0 &&
    !isApprovalTakenBack(approval.steps) &&
    !proposal.args &&
    !turn.end &&
    !freeze;
  return approves ? { decision: 'approved', ...usableFrom(known, now) } : { decision: 'expired' };
}

export const expiring: CallRule<AboutCall, object> = onCall(expireApproval);
