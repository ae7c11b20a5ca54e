import {
  indexOfApproval,
  isApprovalId,
  isTurnKey,
  turnKeyOfLease,
  type LeaseKey,
  type Tenant,
  type TurnKey,
} from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { NEW_APPROVAL, type Approval } from '#fold/approval';
import type { Lease } from '#fold/lease';
import { readApproval, readTurn, readWholeTurn, type FactReader } from '#fold/read';
import { UNKNOWN_TURN, type KnownTurn, type Turn } from '#fold/turn';

export interface ByCaller {
  readonly caller: Caller;
}

/** What may be leased: the turn where it is released whole, else one of its calls. */
export interface LeasedState {
  readonly turn: Turn;
  /** Of the call, where the key is one's. */
  readonly approval: Approval;
}

/** Ids come from outside: a text that is none must never become part of a subject that is read. */
export const isLeaseKey = (key: string): key is LeaseKey => isApprovalId(key) || isTurnKey(key);

export async function readLeased(
  log: FactReader,
  tenant: Tenant,
  { key }: { readonly key: LeaseKey },
): Promise<LeasedState> {
  if (!isLeaseKey(key)) return { turn: UNKNOWN_TURN, approval: NEW_APPROVAL };
  const [turn, approval] = await Promise.all([
    readTurn(log, tenant, turnKeyOfLease(key)),
    isApprovalId(key) ? readApproval(log, tenant, key) : NEW_APPROVAL,
  ]);
  return { turn, approval };
}

/** Whether this key stands for something in that turn: a whole turn is taken by its own key, its calls by theirs. */
export function isKeyOf(key: LeaseKey, { request }: KnownTurn): boolean {
  return isApprovalId(key)
    ? request.release === 'each' && indexOfApproval(key) < request.toolCalls.length
    : key === request.turnKey;
}

export const leaseUnder = (key: LeaseKey, { turn, approval }: LeasedState): Lease | undefined =>
  isApprovalId(key) ? approval.lease : turn.state === 'unknown' ? undefined : turn.lease;

export const readTurnOf = (
  log: FactReader,
  tenant: Tenant,
  { turnKey }: { readonly turnKey: TurnKey },
): Promise<Turn> => (isTurnKey(turnKey) ? readTurn(log, tenant, turnKey) : Promise.resolve(UNKNOWN_TURN));

export const readWhole = (log: FactReader, tenant: Tenant, key: LeaseKey) =>
  isLeaseKey(key) ? readWholeTurn(log, tenant, turnKeyOfLease(key)) : Promise.resolve(undefined);

export const conversationOf = (turn: Turn, otherwise: string): string =>
  turn.state === 'unknown' ? otherwise : turn.request.conversationId;

export const noSuchTurn = (): Refusal => refusal('not-found', 'There is no turn with this id');
export const notYours = (): Refusal =>
  refusal('forbidden', 'The turn is not of an agent and pool that this token speaks for');
export const turnEnded = ({ end }: KnownTurn): Refusal =>
  refusal(
    'turn-ended',
    end ? `The turn is ${end.status} since ${end.at}` : 'The turn has ended',
    end ? { by: end.by, at: end.at } : {},
  );
export const staleAttempt = (detail: string): Refusal => refusal('stale-attempt', detail);
