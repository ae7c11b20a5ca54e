import { approvalIdOf, type Instant, type Tenant } from '#contracts/ids';
import type { RequestedToolCall } from '#contracts/turns/events';
import type { Approval } from '#fold/approval';
import type { WholeTurn } from '#fold/read';
import { isInDoubt, isLeftBehind, isUnfinished } from '#fold/status';
import type { KnownTurn } from '#fold/turn';
import { BEFORE_ANY_POLICY, type CompiledPolicy } from './compiled.js';
import type { PoliciesInForce } from './in-force.js';
import { ruleOn } from './ruling.js';

/** With the version of the policy that was in force when it was asked. */
export interface JudgedTurn extends WholeTurn {
  readonly policy: CompiledPolicy;
}

export interface JudgedCall {
  readonly turn: KnownTurn;
  readonly call: RequestedToolCall;
  readonly approval: Approval;
  readonly policy: CompiledPolicy;
}

/** The policy is asked for only where a call began and has no outcome: nothing else can be in doubt. */
export const policyWhereInDoubt = async (
  policies: Pick<PoliciesInForce, 'at'>,
  tenant: Tenant,
  { turn, approvals }: WholeTurn,
): Promise<CompiledPolicy> =>
  approvals.some(isUnfinished) ? policies.at(tenant, turn.requestSeq) : Promise.resolve(BEFORE_ANY_POLICY);

export const judgedTurn = async (
  policies: Pick<PoliciesInForce, 'at'>,
  tenant: Tenant,
  whole: WholeTurn | undefined,
): Promise<JudgedTurn | undefined> => whole && { ...whole, policy: await policyWhereInDoubt(policies, tenant, whole) };

/** Of what runs, not of what was asked for: after an edit, of the edited arguments. */
function isIdempotent({ turn, call, approval, policy }: JudgedCall): boolean {
  const args = approval.decision?.editedArgs ?? call.args;
  return ruleOn(policy, turn.request, { ...call, args }).idempotent;
}

/** It began under an earlier attempt, and the policy lets it run twice: the latest attempt may run it, or has. */
export const mayRunAgain = (judged: JudgedCall): boolean =>
  isLeftBehind(judged.turn, judged.approval) && isIdempotent(judged);

/** Nobody has said yet what it gave. */
export const isFreeAgain = (judged: JudgedCall): boolean => isUnfinished(judged.approval) && mayRunAgain(judged);

/** Of the turn, or of its one call at `index`: something is in doubt that must not run twice. */
export const waitsForPerson = (turn: JudgedTurn, now: Instant, index?: number): boolean =>
  callsOf(turn, index).some((one) => isInDoubt(one.turn, one.approval, now) && !isIdempotent(one));

/** What a worker that takes a continuation is told of the calls it may still have to run: 'free' ones wait for a `use`. */
export interface Execution {
  readonly approvalId: string;
  readonly state: 'free' | 'executed' | 'failed';
  readonly result?: unknown;
  readonly error?: unknown;
}

export const executionsOf = (turn: JudgedTurn, index?: number): readonly Execution[] =>
  callsOf(turn, index).flatMap((one): Execution[] => {
    const { approvalId, approval } = one;
    const { decision, use, outcome } = approval;
    if (outcome?.ok === true) return [{ approvalId, state: 'executed', result: outcome.result }];
    if (outcome?.ok === false) return [{ approvalId, state: 'failed', error: outcome.error }];
    const isUnused = decision?.is === 'approved' && use === undefined;
    return isUnused || isFreeAgain(one) ? [{ approvalId, state: 'free' }] : [];
  });

const callsOf = ({ turn, approvals, policy }: JudgedTurn, index?: number) =>
  turn.request.toolCalls.flatMap((call, at) => {
    const approval = at === (index ?? at) ? approvals[at] : undefined;
    return approval ? [{ approvalId: approvalIdOf(turn.request.turnKey, at), turn, call, approval, policy }] : [];
  });
