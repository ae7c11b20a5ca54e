import type { RepeatedDenial } from '#contracts/approvals/events';
import type { HoldpointEvent } from '#contracts/events';
import { indexOfApproval, turnKeyOfApproval, type ApprovalId, type Instant, type Tenant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { readApproval, readTurn, type FactReader } from '#fold/read';
import {
  decisionOn,
  isUntouched,
  knownCall,
  onCall,
  type AboutCall,
  type CallRule,
  type CallState,
  type KnownCall,
} from './call.js';

/** A person's no to the same call, and how often it answered since. */
export interface EarlierDenial {
  /** Of what the person said: that it was repeated since makes it no newer. */
  readonly seq: number;
  readonly reason?: string;
  readonly repeats: RepeatedDenial;
}

export interface DenyAgain extends AboutCall {
  readonly earlier: EarlierDenial;
}

/** The same tool with the same arguments, in the same conversation, after a person denied it: they are not asked again. */
export function denyAgain(
  { earlier, ...about }: DenyAgain,
  state: CallState,
  { now }: { readonly now: Instant },
): Answer<HoldpointEvent, never> {
  const known = knownCall(about, state);
  if (!known || !isUntouched(known, now) || known.ruling.requirement.askAgainAfterDenial) return nothingToDo;
  const reason = earlier.reason === undefined ? {} : { reason: earlier.reason };
  const said = { ...decisionOn(known, about), ...reason, repeats: earlier.repeats };
  return accept({ type: 'ToolApprovalDecided', data: { ...said, decision: 'denied' } });
}

export const denyingAgain: CallRule<DenyAgain, object> = onCall(denyAgain);

/**
 * What was found in the read model, as the log has it: nothing where it is no denial of this call before it was asked for.
 * What the log does not show yet is `behind`: nobody may be told otherwise because of it.
 */
export async function readEarlierDenial(
  log: FactReader,
  tenant: Tenant,
  { turn, call }: KnownCall,
  found: ApprovalId,
): Promise<EarlierDenial | 'behind' | undefined> {
  const [before, { decision }] = await Promise.all([
    readTurn(log, tenant, turnKeyOfApproval(found)),
    readApproval(log, tenant, found),
  ]);
  if (before.state === 'unknown' || !decision) return 'behind';
  if (decision.is !== 'denied' || decision.seq >= turn.requestSeq) return undefined;
  const same = before.request.toolCalls[indexOfApproval(found)];
  const isSame =
    before.request.conversationId === turn.request.conversationId &&
    same?.toolName === call.toolName &&
    same.server === call.server &&
    same.argsDigest === call.argsDigest;
  const isTheirs = decision.byKind === 'person';
  const first = decision.repeats ?? (isTheirs ? { approvalId: found, by: decision.by, count: 0 } : undefined);
  if (!isSame || !first) return undefined;
  const said = isTheirs ? decision : (await readApproval(log, tenant, first.approvalId)).decision;
  if (!said) return 'behind';
  if (said.byKind !== 'person') return undefined;
  const { seq, reason } = said;
  return { seq, ...(reason === undefined ? {} : { reason }), repeats: { ...first, count: first.count + 1 } };
}
