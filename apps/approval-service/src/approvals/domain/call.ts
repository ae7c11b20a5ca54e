import type { ToolApprovalDecided } from '#contracts/approvals/events';
import type { Actor } from '#contracts/envelope';
import {
  indexOfApproval,
  isApprovalId,
  turnKeyOfApproval,
  type ApprovalId,
  type Instant,
  type Tenant,
} from '#contracts/ids';
import { refusal, type Refusal, type Winner } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import type { RequestedToolCall } from '#contracts/turns/events';
import type { Rule } from '#event-log/handle-command';
import { NEW_APPROVAL, type Approval, type Decision } from '#fold/approval';
import { readGrantEnd, type GrantEnd } from '#fold/grant';
import { NOTHING_FROZEN, readFreezes, type Freeze, type Freezes } from '#fold/freezes';
import { readApproval, readTurn, type FactReader } from '#fold/read';
import { UNKNOWN_TURN, type KnownTurn, type Turn } from '#fold/turn';
import { BEFORE_ANY_POLICY, type CompiledPolicy } from '#policy/compiled';
import { freezeOf } from '#policy/freeze';
import type { PoliciesInForce } from '#policy/in-force';
import { ruleOn, type Ruling } from '#policy/ruling';
import { expiresAt } from '#policy/times';
import { isOneAct } from '#policy/asked';

export interface AboutCall {
  readonly approvalId: ApprovalId;
}

export interface ByCaller {
  readonly caller: Caller;
}

/** What every rule here goes by: the turn that asked, the approval's own facts, and the policy in force when it was asked. */
export interface CallState {
  readonly turn: Turn;
  readonly approval: Approval;
  readonly policy: CompiledPolicy;
  /** Where it matters: only what is used, or approved without a person, can be held back. */
  readonly freezes?: Freezes;
  /** Of the grant that approved it. */
  readonly grantEnd?: GrantEnd;
}

export interface KnownCall {
  readonly turn: KnownTurn;
  readonly call: RequestedToolCall;
  readonly approval: Approval;
  readonly policy: CompiledPolicy;
  /** What the policy says of the call as it was asked for; while it is frozen, people decide what the policy would approve. */
  readonly ruling: Ruling;
  readonly freeze: Freeze | undefined;
  readonly grantEnd: GrantEnd | undefined;
}

const UNKNOWN_CALL: CallState = { turn: UNKNOWN_TURN, approval: NEW_APPROVAL, policy: BEFORE_ANY_POLICY };

type ReadCall<State> = (log: FactReader, tenant: Tenant, about: AboutCall) => Promise<State>;

/** Then a freeze matters to whoever decides, too. */
const mayApprove = ({ rules, default: { onExpiry } }: CompiledPolicy): boolean =>
  onExpiry === 'approve' || rules.some(({ then, require }) => then === 'approve' || require?.onExpiry === 'approve');

/** Ids come from outside: a text that is none must never become part of a subject that is read. */
const readWhole =
  (freezesMatter: (policy: CompiledPolicy) => boolean) =>
  (policies: PoliciesInForce): ReadCall<CallState> =>
  async (log, tenant, { approvalId }) => {
    if (!isApprovalId(approvalId)) return UNKNOWN_CALL;
    const [asked, approval] = await Promise.all([
      readAsked({ policies, log, freezesMatter }, tenant, approvalId),
      readApproval(log, tenant, approvalId),
    ]);
    return { ...asked, approval };
  };

export const readCall = readWhole(mayApprove);

/** For what is to be used: what is frozen, whatever the policy says, and whether the grant that approved it goes on. */
export const readCallToUse: typeof readCall = (policies) => async (log, tenant, about) => {
  const read = readWhole(() => false)(policies);
  const [state, freezes] = await Promise.all([read(log, tenant, about), readFreezes(log, tenant)]);
  const { grant } = state.approval.decision ?? {};
  const grantEnd = grant && (await readGrantEnd(log, tenant, grant.grantId));
  return { ...state, freezes, ...(grantEnd ? { grantEnd } : {}) };
};

/**
 * As it mostly is when somebody decides: nobody has before. Nothing can be written of an approval before its decision, but
 * where more than one act is needed its steps.
 */
export const readUndecided =
  (policies: PoliciesInForce): ReadCall<CallState | undefined> =>
  async (log, tenant, about) => {
    if (!isApprovalId(about.approvalId)) return UNKNOWN_CALL;
    const state = {
      ...(await readAsked({ policies, log, freezesMatter: mayApprove }, tenant, about.approvalId)),
      approval: NEW_APPROVAL,
    };
    const { requirement } = knownCall(about, state)?.ruling ?? {};
    return requirement && (requirement.escalate || !isOneAct(requirement)) ? undefined : state;
  };

interface Reading {
  readonly policies: PoliciesInForce;
  readonly log: FactReader;
  readonly freezesMatter: (policy: CompiledPolicy) => boolean;
}

async function readAsked({ policies, log, freezesMatter }: Reading, tenant: Tenant, approvalId: ApprovalId) {
  const turn = await readTurn(log, tenant, turnKeyOfApproval(approvalId));
  if (turn.state === 'unknown') return { turn, policy: BEFORE_ANY_POLICY };
  const policy = await policies.at(tenant, turn.requestSeq);
  return freezesMatter(policy) ? { turn, policy, freezes: await readFreezes(log, tenant) } : { turn, policy };
}

/** Whether the log has a call under this id. */
export const hasCall = ({ approvalId }: AboutCall, turn: Turn): boolean =>
  turn.state !== 'unknown' && indexOfApproval(approvalId) < turn.request.toolCalls.length;

/** The call that was asked about, where the log has one under this id. */
export function knownCall({ approvalId }: AboutCall, state: CallState): KnownCall | undefined {
  const { turn, approval, policy, freezes = NOTHING_FROZEN, grantEnd } = state;
  if (turn.state === 'unknown') return undefined;
  const call = turn.request.toolCalls[indexOfApproval(approvalId)];
  if (!call) return undefined;
  const freeze = freezeOf(freezes, call.toolName, turn.request.agent);
  const said = ruleOn(policy, turn.request, call);
  const ruling: Ruling = freeze && said.effect === 'approve' ? { ...said, effect: 'require' } : said;
  return { turn, call, approval, policy, ruling, freeze, grantEnd };
}

/** The policy decides it, and its decision is not in the log yet: it is recorded before anything else is (design 4.2). */
export const isForPolicy = ({ turn, approval, ruling }: KnownCall): boolean =>
  !approval.decision && !turn.end && ruling.effect !== 'require';

/** It waits for people, there is time left, and none of them has looked at it yet: what was said before can answer it. */
export const isUntouched = ({ turn, approval, ruling }: KnownCall, now: Instant): boolean =>
  !approval.decision &&
  !turn.end &&
  approval.steps.every(({ is }) => is === 'escalated') &&
  ruling.effect === 'require' &&
  now < expiresAt(ruling.requirement, turn.request, turn.requestedAt);

/** Facts of one conversation belong together. */
export const conversationOf = ({ approvalId }: AboutCall, { turn }: Pick<CallState, 'turn'>): string =>
  turn.state === 'unknown' ? approvalId : turn.request.conversationId;

/** A rule on one approval, made for the policies that it is judged by. */
export type CallRule<Command, Context> = (policies: PoliciesInForce) => Rule<Command, CallState, Context>;

/** It reads the call whole, unless said otherwise, and its facts belong to the conversation. */
export const onCall =
  <Command extends AboutCall, Context>(
    decide: Rule<Command, CallState, Context>['decide'],
    read = readCall,
  ): CallRule<Command, Context> =>
  (policies) => ({ read: read(policies), decide, correlate: conversationOf });

/** What every decision says, whoever made it. */
export const decisionOn = ({ turn, call, approval, ruling }: KnownCall, { approvalId }: AboutCall) =>
  ({
    approvalId,
    argsDigest: call.argsDigest,
    requirement: ruling.applied,
    requestSeq: turn.requestSeq,
    ...(approval.steps.length > 0 ? { steps: approval.steps.length } : {}),
  }) satisfies Partial<ToolApprovalDecided>;

export const winnerOf = ({ is, by, at, seq }: Decision): Winner => ({ decision: is, by, at, seq });

export const notFound = (): Refusal => refusal('not-found', 'There is no approval with this id');

export const asPolicy = (via: string): Actor => ({ kind: 'policy', id: 'policy', via });
