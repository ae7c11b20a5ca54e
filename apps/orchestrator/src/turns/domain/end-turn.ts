import type { HoldpointEvent } from '#contracts/events';
import type { Refusal } from '#contracts/refusals';
import { refusal } from '#contracts/refusals';
import type { CancelTurn, EndTurn } from '#contracts/turns/commands';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { isAgentOf } from '#fold/permission';
import type { Turn } from '#fold/turn';
import {
  conversationOf,
  noSuchTurn,
  notYours,
  readTurnOf,
  staleAttempt,
  turnEnded,
  type ByCaller,
} from './turn-state.js';

/** Only the latest attempt ends its turn; its lease may have run out, as long as nobody took over. */
export function endTurn(command: EndTurn, turn: Turn, { caller }: ByCaller): Answer<HoldpointEvent, Refusal> {
  if (turn.state === 'unknown') return refuse(noSuchTurn());
  if (!isAgentOf(caller, turn)) return refuse(notYours());
  const { turnKey, attempt, status } = command;
  const { end, lease } = turn;
  if (end) return end.status === status && end.attempt === attempt ? nothingToDo : refuse(turnEnded(turn));
  if (lease.state === 'never-taken')
    return refuse(refusal('not-ready', 'Nobody has resumed this turn: it can be cancelled, not ended'));
  if (lease.state === 'given-back' || lease.attempt !== attempt || lease.tokenId !== caller.tokenId)
    return refuse(staleAttempt('Another worker or attempt has this turn'));
  return accept({ type: 'TurnEnded', data: { turnKey, turnId: turn.request.turnId, status, attempt } });
}

/** What the agent no longer wants. Its open approvals are closed by what follows from this fact. */
export function cancelTurn(command: CancelTurn, turn: Turn, { caller }: ByCaller): Answer<HoldpointEvent, Refusal> {
  if (turn.state === 'unknown') return refuse(noSuchTurn());
  if (!isAgentOf(caller, turn)) return refuse(notYours());
  if (turn.end) return turn.end.status === 'cancelled' ? nothingToDo : refuse(turnEnded(turn));
  const { turnKey, reason } = command;
  const because = reason === undefined ? {} : { reason };
  return accept({ type: 'TurnEnded', data: { turnKey, turnId: turn.request.turnId, status: 'cancelled', ...because } });
}

export interface SupersedeTurn extends CancelTurn {
  readonly supersededBy: string;
}

/** A newer turn took this one's place; without effect where it has ended. */
export function supersedeTurn({ turnKey, supersededBy }: SupersedeTurn, turn: Turn): Answer<HoldpointEvent, Refusal> {
  if (turn.state === 'unknown' || turn.end) return nothingToDo;
  const data = {
    turnKey,
    turnId: turn.request.turnId,
    status: 'cancelled',
    reason: 'A newer turn took its place',
    supersededBy,
  } as const;
  return accept({ type: 'TurnEnded', data });
}

const correlate = ({ turnKey }: CancelTurn, turn: Turn) => conversationOf(turn, turnKey);
export const ending: Rule<EndTurn, Turn, ByCaller> = { read: readTurnOf, decide: endTurn, correlate };
export const cancelling: Rule<CancelTurn, Turn, ByCaller> = { read: readTurnOf, decide: cancelTurn, correlate };
export const superseding: Rule<SupersedeTurn, Turn, object> = { read: readTurnOf, decide: supersedeTurn, correlate };
