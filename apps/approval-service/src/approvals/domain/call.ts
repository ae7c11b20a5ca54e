import type { ToolApprovalDecided } from '#contracts/approvals/events';
import { indexOfApproval, isApprovalId, turnKeyOfApproval, type ApprovalId, type Tenant } from '#contracts/ids';
import { refusal, type Refusal, type Winner } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import type { RequestedToolCall } from '#contracts/turns/events';
import { NEW_APPROVAL, type Approval, type Decision } from '#fold/approval';
import { readApproval, readTurn, type FactReader } from '#fold/read';
import { appliedRequirement } from '#fold/requirement';
import { UNKNOWN_TURN, type KnownTurn, type Turn } from '#fold/turn';

export interface AboutCall {
  readonly approvalId: ApprovalId;
}

export interface ByCaller {
  readonly caller: Caller;
}

/** What every rule here goes by: the turn that asked, and the approval's own facts. */
export interface CallState {
  readonly turn: Turn;
  readonly approval: Approval;
}

export interface KnownCall {
  readonly turn: KnownTurn;
  readonly call: RequestedToolCall;
  readonly approval: Approval;
}

const UNKNOWN_CALL: CallState = { turn: UNKNOWN_TURN, approval: NEW_APPROVAL };

/** Ids come from outside: a text that is none must never become part of a subject that is read. */
export async function readCall(log: FactReader, tenant: Tenant, { approvalId }: AboutCall): Promise<CallState> {
  if (!isApprovalId(approvalId)) return UNKNOWN_CALL;
  const [turn, approval] = await Promise.all([
    readTurn(log, tenant, turnKeyOfApproval(approvalId)),
    readApproval(log, tenant, approvalId),
  ]);
  return { turn, approval };
}

/** As it mostly is when somebody decides: nobody has before. Nothing can be written of an approval before its decision. */
export async function readUndecided(log: FactReader, tenant: Tenant, { approvalId }: AboutCall): Promise<CallState> {
  if (!isApprovalId(approvalId)) return UNKNOWN_CALL;
  return { turn: await readTurn(log, tenant, turnKeyOfApproval(approvalId)), approval: NEW_APPROVAL };
}

/** The call that was asked about, where the log has one under this id. */
export function knownCall({ approvalId }: AboutCall, { turn, approval }: CallState): KnownCall | undefined {
  const call = turn.state === 'unknown' ? undefined : turn.request.toolCalls[indexOfApproval(approvalId)];
  return turn.state === 'unknown' || !call ? undefined : { turn, call, approval };
}

/** Facts of one conversation belong together. */
export const conversationOf = ({ approvalId }: AboutCall, { turn }: Pick<CallState, 'turn'>): string =>
  turn.state === 'unknown' ? approvalId : turn.request.conversationId;

/** What every decision says, whoever made it. */
export const decisionOn = ({ turn, call }: KnownCall, { approvalId }: AboutCall) =>
  ({
    approvalId,
    argsDigest: call.argsDigest,
    requirement: appliedRequirement(turn.request),
    requestSeq: turn.requestSeq,
  }) satisfies Partial<ToolApprovalDecided>;

export const winnerOf = ({ is, by, at, seq }: Decision): Winner => ({ decision: is, by, at, seq });

export const notFound = (): Refusal => refusal('not-found', 'There is no approval with this id');
