import type { ContinuationCommand } from '#contracts/continuations/events';
import type { HoldpointEvent } from '#contracts/events';
import { indexOfApproval, isApprovalId, later, turnKeyOfLease, type Instant, type LeaseKey } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import { subjects } from '#contracts/subjects';
import type { ResumeTurn } from '#contracts/turns/commands';
import { accept, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { isAlive, lastAttempt, nextPlace } from '#fold/lease';
import { isAgentOf } from '#fold/permission';
import { readStory, type FactReader, type WholeTurn } from '#fold/read';
import { isClosed, mayGoOn } from '#fold/status';
import { UNKNOWN_TURN, type KnownTurn } from '#fold/turn';
import type { PoliciesInForce } from '#policy/in-force';
import { judgedTurn, waitsForPerson, type JudgedTurn } from '#policy/run-again';
import {
  conversationOf,
  isKeyOf,
  isLeaseKey,
  noSuchTurn,
  notYours,
  readWhole,
  turnEnded,
  type ByCaller,
} from './turn-state.js';

export interface ResumingState {
  readonly whole: JudgedTurn | undefined;
  /** When `ContinueConversation` was stored; missing while it is not. */
  readonly offeredAt?: Instant;
}

export type ResumingContext = ByCaller & { readonly leaseSeconds: number };
type Context = ResumingContext & { readonly now: Instant };

/** A worker takes a continuation: the next attempt, with a lease. Everybody else waits until the lease is over. */
export function resumeTurn(
  command: ResumeTurn,
  state: ResumingState,
  context: Context,
): Answer<HoldpointEvent, Refusal> {
  const { whole } = state;
  if (!whole || !isKeyOf(command.key, whole.turn)) return refuse(noSuchTurn());
  const { caller, now, leaseSeconds } = context;
  const index = isApprovalId(command.key) ? indexOfApproval(command.key) : undefined;
  const lease = index === undefined ? whole.turn.lease : whole.approvals[index]?.lease;
  if (!lease) return refuse(noSuchTurn());
  const no =
    notAllowed(command, whole.turn, context) ??
    notReady(command.key, whole) ??
    (isAlive(lease, now) ? taken('Another worker has it until its lease is over') : undefined) ??
    (waitsForPerson(whole, now, index) ? inDoubt() : undefined) ??
    notYourTime(command, whole.turn, { ...state, context });
  if (no) return refuse(no);
  const attempt = lastAttempt(lease) + 1;
  const { key, workerId } = command;
  const data = { key, n: nextPlace(lease), attempt, since: now, workerId, tokenId: caller.tokenId };
  return accept({ type: 'TurnResumed', data: { ...data, leaseUntil: later(now, leaseSeconds) } });
}

function notAllowed({ asHolder, workerId }: ResumeTurn, turn: KnownTurn, { caller }: Context): Refusal | undefined {
  if (!isAgentOf(caller, turn)) return notYours();
  if (turn.end) return turnEnded(turn);
  if (asHolder && !isHolder(workerId, turn, caller.tokenId))
    return refusal(
      'forbidden',
      'Only the worker that opened the turn as its holder, with the same token, takes it this way',
    );
  return undefined;
}

function notReady(key: LeaseKey, { turn, approvals }: WholeTurn): Refusal | undefined {
  if (!isApprovalId(key))
    return mayGoOn(turn, approvals) ? undefined : refusal('not-ready', 'Not every call of the turn is decided yet');
  const approval = approvals[indexOfApproval(key)];
  if (approval?.use?.is === 'revoked') return refusal('revoked', 'The approval was taken back');
  if (approval?.use?.is === 'lapsed') return refusal('lapsed', 'The approval was not used in time');
  if (approval?.decision?.is !== 'approved') return refusal('not-ready', 'The call is not approved');
  return isClosed(approval) ? refusal('not-ready', 'The call has its outcome already') : undefined;
}

const inDoubt = (): Refusal =>
  refusal('in-doubt', 'A tool of an earlier attempt began and was never heard of again; a person must settle it first');

/** Until the grace after its command is over, the turn is its holder's; the pool takes only what it was offered. */
function notYourTime(
  { asHolder, workerId }: ResumeTurn,
  turn: KnownTurn,
  { offeredAt, context: { caller, now } }: { readonly offeredAt?: Instant; readonly context: Context },
): Refusal | undefined {
  if (asHolder) return undefined;
  if (offeredAt === undefined) return refusal('not-ready', 'The continuation was not offered yet');
  const { holder } = turn.request;
  if (!holder || isHolder(workerId, turn, caller.tokenId) || now >= later(offeredAt, holder.graceSeconds))
    return undefined;
  return taken('The worker that opened the turn is given time to go on with it first');
}

const isHolder = (workerId: string, { request }: KnownTurn, tokenId: string): boolean =>
  request.holder?.workerId === workerId && request.tokenId === tokenId;

const taken = (detail: string): Refusal => refusal('taken', detail);

/** The commands are in a stream of their own. */
export const resuming = (
  commands: FactReader<ContinuationCommand>,
  policies: PoliciesInForce,
): Rule<ResumeTurn, ResumingState, ResumingContext> => ({
  read: async (log, tenant, { key, asHolder }) => {
    if (!isLeaseKey(key)) return { whole: undefined };
    const [whole, command] = await Promise.all([
      readWhole(log, tenant, key).then((read) => judgedTurn(policies, tenant, read)),
      asHolder ? undefined : commands.last(subjects.continuationInAnyPool(tenant, turnKeyOfLease(key), key)),
    ]);
    return { whole, ...(command ? { offeredAt: command.storedAt } : {}) };
  },
  // Somebody else may have had it since: a request that comes late must not take it for a worker that is long gone.
  earlier: async (log, tenant, { key }) => isLeaseKey(key) && readStory(log, subjects.leases(tenant, key)),
  decide: resumeTurn,
  correlate: ({ key }, { whole }) => conversationOf(whole?.turn ?? UNKNOWN_TURN, key),
});
