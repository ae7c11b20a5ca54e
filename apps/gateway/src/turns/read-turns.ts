import {
  indexOfApproval,
  instant,
  isApprovalId,
  turnKeyOf,
  turnKeyOfLease,
  type ApprovalId,
  type Instant,
  type LeaseKey,
} from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import type { RequestedToolCall } from '#contracts/turns/events';
import { readTurn, readWholeTurn, type WholeTurn } from '#fold/read';
import type { KnownTurn } from '#fold/turn';
import type { Clock } from '#event-log/handle-command';
import type { Log } from '#event-log/log';
import { checkMaySee } from '../auth/visibility.js';
import { refused, type Refused } from '../http/problem.js';

/** Turns as the log has them now, for those who may see them. */
export class ReadTurns {
  constructor(
    readonly log: Log,
    private readonly clock: Clock,
  ) {}

  now = (): Instant => instant(this.clock());

  async named(caller: Caller, conversationId: string, turnId: string): Promise<WholeTurn> {
    const whole = await readWholeTurn(this.log, caller.tenant, turnKeyOf(caller.tenant, conversationId, turnId));
    if (!whole) throw refused('not-found', `There is no turn ${turnId} in the conversation ${conversationId}`);
    checkMaySee(caller, whole.turn);
    return whole;
  }

  /** What a continuation is about: a whole turn, or the turn of the one call. */
  async of(caller: Caller, key: LeaseKey): Promise<WholeTurn> {
    const whole = await readWholeTurn(this.log, caller.tenant, turnKeyOfLease(key));
    if (!whole || !hasCall(whole.turn, key)) throw unknown(key);
    checkMaySee(caller, whole.turn);
    return whole;
  }

  /** Which call of which turn an approval is about. */
  async callOf(caller: Caller, id: ApprovalId): Promise<{ turn: KnownTurn; call: RequestedToolCall }> {
    const turn = await readTurn(this.log, caller.tenant, turnKeyOfLease(id));
    const call = turn.state === 'unknown' ? undefined : turn.request.toolCalls[indexOfApproval(id)];
    if (turn.state === 'unknown' || !call) throw unknown(id);
    checkMaySee(caller, turn);
    return { turn, call };
  }
}

const hasCall = ({ request }: KnownTurn, key: LeaseKey): boolean =>
  !isApprovalId(key) || indexOfApproval(key) < request.toolCalls.length;
const unknown = (key: LeaseKey): Refused => refused('not-found', `There is no ${key}`);
