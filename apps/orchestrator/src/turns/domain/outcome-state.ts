import type { FieldError } from '#contracts/parse';
import { refusal, type Refusal, type Winner } from '#contracts/refusals';
import { canonicalJson } from '#contracts/canonical';
import { indexOfApproval, isApprovalId, turnKeyOfApproval, type ApprovalId, type Tenant } from '#contracts/ids';
import { NEW_APPROVAL, type Approval, type Outcome } from '#fold/approval';
import { readApproval, readTurn, type FactReader } from '#fold/read';
import { isLeftBehind } from '#fold/status';
import { UNKNOWN_TURN } from '#fold/turn';
import { BEFORE_ANY_POLICY, type CompiledPolicy } from '#policy/compiled';
import type { PoliciesInForce } from '#policy/in-force';
import type { JudgedCall } from '#policy/run-again';
import { conversationOf, type LeasedState } from './turn-state.js';

const MOST_BYTES = 1_048_576;

interface AboutOutcome {
  readonly approvalId: ApprovalId;
  readonly ok: boolean;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface ExecutionState extends LeasedState {
  /** In force when the call was asked for, where it matters. */
  readonly policy: CompiledPolicy;
}

const UNKNOWN: ExecutionState = { turn: UNKNOWN_TURN, approval: NEW_APPROVAL, policy: BEFORE_ANY_POLICY };

/** A call of a turn, with the lease under which it runs. */
export const readExecution =
  (policies: PoliciesInForce) =>
  async (log: FactReader, tenant: Tenant, { approvalId }: AboutOutcome): Promise<ExecutionState> => {
    if (!isApprovalId(approvalId)) return UNKNOWN;
    const [turn, approval] = await Promise.all([
      readTurn(log, tenant, turnKeyOfApproval(approvalId)),
      readApproval(log, tenant, approvalId),
    ]);
    if (turn.state === 'unknown') return { ...UNKNOWN, approval };
    // Only of who did not begin it is it asked whether they may run it too.
    if (!isLeftBehind(turn, approval)) return { ...UNKNOWN, turn, approval };
    return { turn, approval, policy: await policies.at(tenant, turn.requestSeq) };
  };

export function knownExecution(
  { approvalId }: AboutOutcome,
  { turn, approval, policy }: ExecutionState,
): JudgedCall | undefined {
  const call = turn.state === 'unknown' ? undefined : turn.request.toolCalls[indexOfApproval(approvalId)];
  return turn.state === 'unknown' || !call ? undefined : { turn, call, approval, policy };
}

export const correlateExecution = ({ approvalId }: AboutOutcome, { turn }: LeasedState) =>
  conversationOf(turn, approvalId);
export const noSuchApproval = (): Refusal => refusal('not-found', 'There is no approval with this id');

/** `ok` says which of the two counts; the other one there as well is a mistake. */
export function misplacedResult({ ok, result, error }: AboutOutcome): Refusal | undefined {
  const errors: FieldError[] = [];
  if (ok && error !== undefined) errors.push({ path: 'error', message: 'goes with ok: false only' });
  if (!ok && result !== undefined) errors.push({ path: 'result', message: 'goes with ok: true only' });
  return errors.length === 0 ? undefined : refusal('invalid-input', 'The outcome is not valid', { errors });
}

export function oversizedResult(command: AboutOutcome): Refusal | undefined {
  if (Buffer.byteLength(canonicalJson(command)) <= MOST_BYTES) return undefined;
  return refusal('too-large', 'In canonical form the outcome is over 1 MiB');
}

/** Why there is nothing to report on: the tool never began. */
export function neverBegan({ use }: Approval): Refusal {
  if (use?.is === 'revoked') return refusal('revoked', 'The approval was taken back before the tool began');
  if (use?.is === 'lapsed') return refusal('lapsed', 'The approval was not used in time');
  return refusal('not-ready', 'Nobody has begun this tool: its use comes first');
}

export const winnerOf = ({ ok, by, at, seq }: Outcome): Winner => ({
  decision: ok ? 'succeeded' : 'failed',
  by,
  at,
  seq,
});
