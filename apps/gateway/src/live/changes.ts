import { setTimeout as sleep } from 'node:timers/promises';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import {
  isApprovalId,
  isTokenId,
  isTurnKey,
  turnKeyOfApproval,
  type Tenant,
  type TokenId,
  type TurnKey,
} from '#contracts/ids';
import { placeOf } from '#contracts/subjects';
import { decodeFact } from '#event-log/codec';
import type { Log, RawFact } from '#event-log/log';
import { RecentTurns } from './recent-turns.js';
import { attempt, Wakers } from './wakers.js';

export type ReportLive = (error: unknown, what: string) => void;
type Listener = (fact: Recorded<HoldpointEvent>) => void;

const BACK_OFF_MS = 250;
const BACK_OFF_MOST_MS = 5_000;
/** Kinds of fact after which a continuation may be offered at once. */
const FREEING = new Set(['res', 'out']);

/**
 * The log's end as it grows: one ordered subscription a process, handed on in memory. A thousand who wait cost memory only.
 * A fact is decoded once, and only where somebody listens.
 */
export class Changes {
  private seq: number | undefined;
  private readonly turns = new Wakers<void>();
  private readonly conversations = new Wakers<Recorded<HoldpointEvent>>();
  private readonly listening = new Map<Tenant, number>();
  private readonly freeing = new Set<Listener>();
  private readonly revoking = new Set<(tokenId: TokenId) => void>();
  private readonly arriving = new Set<{ readonly seq: number; readonly arrived: () => void }>();
  readonly recent = new RecentTurns();

  constructor(
    private readonly log: Log,
    private readonly report: ReportLive,
  ) {}

  /** Every fact up to here has been handed on; nothing is known before the subscription began. */
  get position(): number | undefined {
    return this.seq;
  }

  /** Whether every fact up to there has been handed on, now or within that time. */
  reached(seq: number, withinMs: number): Promise<boolean> {
    if ((this.seq ?? 0) >= seq) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (hasArrived: boolean) => {
        clearTimeout(timer);
        this.arriving.delete(waiting);
        resolve(hasArrived);
      };
      const waiting = { seq, arrived: () => end(true) };
      const timer = setTimeout(() => end(false), withinMs);
      this.arriving.add(waiting);
    });
  }

  /** Follows until aborted. What breaks it is reported, and it goes on after the last fact that was handed on. */
  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      const before = this.seq;
      await this.follow(signal).catch((error: unknown) => this.report(error, 'live changes'));
      failures = this.seq === before ? failures + 1 : 0;
      const ms = Math.min(BACK_OFF_MOST_MS, BACK_OFF_MS * 2 ** Math.min(failures, 6));
      await sleep(ms, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Resolves at the turn's next fact, or when aborted; it counts from the call on. */
  untilChanged(turnKey: TurnKey, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        off();
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const off = this.turns.add(turnKey, wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  /** Every fact of a conversation after `position`, in order, until the returned function is called. */
  subscribe(tenant: Tenant, conversationId: string, listener: Listener): () => void {
    const off = this.conversations.add(keyOf(tenant, conversationId), listener);
    this.listening.set(tenant, (this.listening.get(tenant) ?? 0) + 1);
    let isOn = true;
    return () => {
      if (!isOn) return;
      isOn = false;
      off();
      const left = (this.listening.get(tenant) ?? 1) - 1;
      if (left > 0) this.listening.set(tenant, left);
      else this.listening.delete(tenant);
    };
  }

  /** Leases and outcomes of every tenant: after some of them a continuation is offered again. */
  onFreeing(listener: Listener): void {
    this.freeing.add(listener);
  }

  /** Tokens of every tenant, as they are revoked. */
  onRevoked(listener: (tokenId: TokenId) => void): void {
    this.revoking.add(listener);
  }

  private async follow(signal: AbortSignal): Promise<void> {
    this.seq ??= (await this.log.state()).lastSeq;
    for await (const raw of this.log.follow(this.seq, signal)) {
      this.recent.hear(raw);
      attempt(
        () => this.handOn(raw),
        (error) => this.report(error, `fact ${raw.seq}`),
      );
      this.seq = raw.seq;
      for (const { seq, arrived } of this.arriving) if (seq <= raw.seq) arrived();
    }
  }

  private handOn(raw: RawFact): void {
    const failed = (error: unknown) => this.report(error, `fact ${raw.seq}`);
    const { tenant, id, kind } = placeOf(raw.subject);
    if (isTokenId(id) && kind === 'over') for (const listener of this.revoking) attempt(() => listener(id), failed);
    const turnKey = isApprovalId(id) ? turnKeyOfApproval(id) : id;
    if (!isTurnKey(turnKey)) return;
    this.turns.wake(turnKey, undefined, failed);
    const isFreeing = FREEING.has(kind) && this.freeing.size > 0;
    if (!isFreeing && !this.listening.has(tenant)) return;
    const fact = decodeFact<HoldpointEvent>(raw);
    if (isFreeing) for (const listener of this.freeing) attempt(() => listener(fact), failed);
    this.conversations.wake(keyOf(tenant, fact.correlationId), fact, failed);
  }
}

const keyOf = (tenant: Tenant, conversationId: string): string => `${tenant} ${conversationId}`;
