import {
  indexOfApproval,
  instant,
  isApprovalId,
  turnKeyOf,
  turnKeyOfLease,
  type ApprovalId,
  type Instant,
  type LeaseKey,
  type Tenant,
  type TurnKey,
} from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import type { RequestedToolCall } from '#contracts/turns/events';
import { readTurn, readWholeTurn, type WholeTurn } from '#fold/read';
import type { KnownTurn } from '#fold/turn';
import type { Clock } from '#event-log/handle-command';
import type { Log } from '#event-log/log';
import { checkMaySee } from '../auth/visibility.js';
import { refused, type Refused } from '../http/problem.js';

/** What this process has heard of the log while it followed it. */
export interface Heard {
  /** Whether everything up to there has been heard, now or within that time. */
  reached(seq: number, withinMs: number): Promise<boolean>;
  readonly recent: { of(tenant: Tenant, turnKey: TurnKey): WholeTurn | undefined };
}

const HEARD_WITHIN_MS = 200;

/** Turns as the log has them now, for those who may see them. */
export class ReadTurns {
  constructor(
    readonly log: Log,
    private readonly clock: Clock,
    private readonly heard: Heard,
  ) {}

  /**
   * With every fact up to that one at least, and maybe later ones: from what this process has heard, which costs nothing, else
   * from the log's leader.
   */
  async asOf(tenant: Tenant, turnKey: TurnKey, seq: number): Promise<WholeTurn | undefined> {
    const heard = (await this.heard.reached(seq, HEARD_WITHIN_MS)) ? this.heardOf(tenant, turnKey) : undefined;
    return heard ?? readWholeTurn(this.log, tenant, turnKey);
  }

  /** As far as this process has followed the log; nothing where it does not know the turn from its beginning. */
  heardOf = (tenant: Tenant, turnKey: TurnKey): WholeTurn | undefined => this.heard.recent.of(tenant, turnKey);

  /** After a write that was just made: what it was about, as it left it or later. */
  async after(caller: Caller, key: LeaseKey, seq: number): Promise<WholeTurn> {
    return this.seen(caller, key, await this.asOf(caller.tenant, turnKeyOfLease(key), seq));
  }

  now = (): Instant => instant(this.clock());

  async named(caller: Caller, conversationId: string, turnId: string): Promise<WholeTurn> {
    const whole = await readWholeTurn(this.log, caller.tenant, turnKeyOf(caller.tenant, conversationId, turnId));
    if (!whole) throw refused('not-found', `There is no turn ${turnId} in the conversation ${conversationId}`);
    checkMaySee(caller, whole.turn);
    return whole;
  }

  /** What a continuation is about: a whole turn, or the turn of the one call. */
  async of(caller: Caller, key: LeaseKey): Promise<WholeTurn> {
    return this.seen(caller, key, await readWholeTurn(this.log, caller.tenant, turnKeyOfLease(key)));
  }

  private seen(caller: Caller, key: LeaseKey, whole: WholeTurn | undefined): WholeTurn {
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
