import { later, secondsBetween, type Instant } from '#contracts/ids';
import type { Refusal } from '#contracts/refusals';
import type { HoldpointEvent } from '#contracts/events';
import type { ExtendLease, GiveBackLease } from '#contracts/turns/commands';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { isHeldBy, type Lease } from '#fold/lease';
import { isAgentOf } from '#fold/permission';
import type { ResumingContext } from './resume-turn.js';
import {
  conversationOf,
  isKeyOf,
  leaseUnder,
  noSuchTurn,
  notYours,
  readLeased,
  staleAttempt,
  turnEnded,
  type ByCaller,
  type LeasedState,
} from './turn-state.js';

type Held = Exclude<Lease, { state: 'never-taken' }>;
type Context = ResumingContext & { readonly now: Instant };
const LONGEST_SECONDS = 900;

/** A lease that has run out may be extended as long as nobody else took over: both compete for the same fact. */
export function extendLease(
  command: ExtendLease,
  state: LeasedState,
  context: Context,
): Answer<HoldpointEvent, Refusal> {
  const held = heldBy(command, state, context);
  if ('reason' in held) return refuse(held);
  if (held.state === 'given-back') return refuse(staleAttempt('This attempt was given back'));
  return accept({ type: 'LeaseExtended', data: { ...nextOf(held), leaseUntil: extendedUntil(held, context) } });
}

/** As long as the attempt has run, so that ten thousand busy workers write few facts; never shorter than what is left. */
function extendedUntil({ since, until }: Held, { now, leaseSeconds }: Context): Instant {
  const seconds = Math.min(Math.max(secondsBetween(since, now), leaseSeconds), LONGEST_SECONDS);
  const extended = later(now, seconds);
  return extended > until ? extended : until;
}

export function giveBackLease(
  command: GiveBackLease,
  state: LeasedState,
  context: ByCaller,
): Answer<HoldpointEvent, Refusal> {
  const held = heldBy(command, state, context);
  if ('reason' in held) return refuse(held);
  return held.state === 'given-back' ? nothingToDo : accept({ type: 'LeaseGivenBack', data: nextOf(held) });
}

/** The lease, where it is this worker's under this attempt; else why not. */
function heldBy(command: ExtendLease, state: LeasedState, { caller }: ByCaller): Held | Refusal {
  const { key, attempt, workerId } = command;
  const { turn } = state;
  if (turn.state === 'unknown' || !isKeyOf(key, turn)) return noSuchTurn();
  if (!isAgentOf(caller, turn)) return notYours();
  if (turn.end) return turnEnded(turn);
  const lease = leaseUnder(key, state);
  if (!lease || lease.state === 'never-taken') return staleAttempt('Nobody has taken this continuation');
  return isHeldBy(lease, { attempt, workerId, tokenId: caller.tokenId })
    ? lease
    : staleAttempt('Another worker or attempt has this continuation');
}

const nextOf = ({ key, n, attempt, workerId, tokenId, since }: Held) => ({
  key,
  n: n + 1,
  attempt,
  workerId,
  tokenId,
  since,
});

const correlate = ({ key }: ExtendLease, { turn }: LeasedState) => conversationOf(turn, key);
export const extending: Rule<ExtendLease, LeasedState, ResumingContext> = {
  read: readLeased,
  decide: extendLease,
  correlate,
};
export const givingBack: Rule<GiveBackLease, LeasedState, ByCaller> = {
  read: readLeased,
  decide: giveBackLease,
  correlate,
};
