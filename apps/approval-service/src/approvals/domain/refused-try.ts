import { REFUSED_TRIES, type DecisionRefused, type RefusedTry } from '#contracts/approvals/events';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { isApprovalId, turnKeyOfApproval, type Tenant } from '#contracts/ids';
import type { Reason } from '#contracts/refusals';
import { subjects } from '#contracts/subjects';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { readTurn, type FactReader } from '#fold/read';
import { UNKNOWN_TURN, type Turn } from '#fold/turn';
import { conversationOf, hasCall } from './call.js';

/** `who` is a digest: no address ever stands in a subject. */
export type RecordRefusedTry = Pick<DecisionRefused, 'approvalId' | 'who' | 'why' | 'tried'>;

export interface RefusedTryState {
  readonly turn: Turn;
  readonly earlier?: Recorded<HoldpointEvent>;
}

export const isRefusedTry = (reason: Reason): reason is RefusedTry =>
  (REFUSED_TRIES as readonly Reason[]).includes(reason);

async function readRefusedTry(log: FactReader, tenant: Tenant, command: RecordRefusedTry): Promise<RefusedTryState> {
  const { approvalId, who, why } = command;
  if (!isApprovalId(approvalId)) return { turn: UNKNOWN_TURN };
  const [turn, earlier] = await Promise.all([
    readTurn(log, tenant, turnKeyOfApproval(approvalId)),
    log.last(subjects.refusedTry(tenant, approvalId, who, why)),
  ]);
  return { turn, ...(earlier ? { earlier } : {}) };
}

/** The first try of its kind by this person is a fact; its repeats are not. */
export function recordRefusedTry(command: RecordRefusedTry, state: RefusedTryState): Answer<HoldpointEvent, never> {
  if (state.earlier || !hasCall(command, state.turn)) return nothingToDo;
  const { approvalId, who, why, tried } = command;
  const turnKey = turnKeyOfApproval(approvalId);
  return accept({ type: 'DecisionRefused', data: { approvalId, who, why, tried, turnKey } });
}

export const refusing: Rule<RecordRefusedTry, RefusedTryState, object> = {
  read: readRefusedTry,
  decide: recordRefusedTry,
  correlate: conversationOf,
};
