import type { ApprovalEscalated } from '#contracts/approvals/events';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { closingOf } from '#fold/closing';
import { isOwnRequest } from '#fold/permission';
import { couldAnyBeMet, quorumsNow, stageReached } from '#policy/asked';
import { tallyOf, withStep } from '#policy/tally';
import { escalatesAt } from '#policy/times';
import {
  isForPolicy,
  knownCall,
  onCall,
  type AboutCall,
  type CallRule,
  type CallState,
  type KnownCall,
} from './call.js';
import { heldFrom } from './closed-already.js';

/**
 * The next stage begins: its time has come, or those asked so far can never be enough once the requester is left out. Where the
 * votes that there are suffice for it, nothing more is waited for.
 */
export function escalateApproval(
  command: AboutCall,
  state: CallState,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  if (!known || isForPolicy(known) || known.approval.decision || known.turn.end) return nothingToDo;
  const { steps } = known.approval;
  const because = whyNow(known, now);
  if (!because || closingOf(steps)) return nothingToDo;
  const stage = stageReached(steps) + 1;
  const nextAt = escalatesAt(known.ruling.requirement, stage, known.turn.requestedAt);
  const next = nextAt === undefined ? {} : { nextAt };
  const data = { n: steps.length + 1, stage, because, ...next };
  const after = withStep(known, { is: 'escalated', ...data, by: '', at: now, seq: 0, eventId: '' });
  const closes = tallyOf(after).met ? ({ closes: 'approved', ...heldFrom(known, now) } as const) : {};
  return accept({ type: 'ApprovalEscalated', data: { approvalId: command.approvalId, ...data, ...closes } });
}

function whyNow({ turn, approval, ruling }: KnownCall, now: Instant): ApprovalEscalated['because'] | undefined {
  const at = escalatesAt(ruling.requirement, stageReached(approval.steps), turn.requestedAt);
  if (at === undefined) return undefined;
  if (now >= at) return 'time';
  const couldBeMet = couldAnyBeMet(quorumsNow(ruling.requirement, approval.steps), (one) => isOwnRequest(one, turn));
  return couldBeMet ? undefined : 'unmeetable';
}

export const escalating: CallRule<AboutCall, object> = onCall(escalateApproval);
