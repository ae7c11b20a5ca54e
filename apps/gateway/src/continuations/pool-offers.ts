import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError } from '@nats-io/jetstream';
import { indexOfApproval, instant, type Tenant, type TurnKey } from '#contracts/ids';
import { unreachable } from '#decider/decider';
import type { ContinuationCommand } from '#contracts/continuations/events';
import { poolDurable } from '#event-log/durables';
import type { Clock } from '#event-log/handle-command';
import type { Delivery } from '#event-log/log';
import { continuationOf } from '#fold/continuation';
import { readWholeTurn, type FactReader, type WholeTurn } from '#fold/read';
import type { PoliciesInForce } from '#policy/in-force';
import { judgedTurn, type JudgedTurn } from '#policy/run-again';
import type { Broker } from '#service/broker';
import { judgeOffer, mayTake, type Judgement } from './judge-offer.js';
import { offerOfDelivery, offerOfStray, type Offer } from './offer.js';
import { StrayOffers } from './stray-offers.js';
import type { Stray, WaitingPull } from './waiting-pull.js';

export interface OfferServices {
  readonly events: FactReader;
  /** The turn as far as this process has followed the log, where it knows it from its beginning. */
  readonly heardOf: (tenant: Tenant, turnKey: TurnKey) => WholeTurn | undefined;
  readonly policies: Pick<PoliciesInForce, 'at'>;
  readonly clock: Clock;
  readonly pullPool: Broker['pullPool'];
  readonly report: (error: unknown, what: string) => void;
  readonly stopping: AbortSignal;
}

const AT_ONCE_MAX = 64;
const FETCH_MS = 5_000;
const BACK_OFF_MS = 500;
const SOON_MS = 1_000;
const UNREADABLE_FOR_MS = 60_000;
const CONSUMER_NOT_FOUND = 10014;

/** One pool of one tenant in this gateway: its waiting pulls share one fetch from the broker and one set of strays. */
export class PoolOffers {
  private readonly waiting = new Set<WaitingPull>();
  private readonly strays = new StrayOffers();
  private readonly looking = new Set<Promise<void>>();
  private isPumping = false;

  constructor(
    private readonly services: OfferServices,
    private readonly tenant: Tenant,
    private readonly pool: string,
  ) {}

  get isAbandoned(): boolean {
    return this.waiting.size === 0 && !this.isPumping;
  }

  async serve(pull: WaitingPull): Promise<void> {
    this.waiting.add(pull);
    this.lookAtStrays();
    void this.pump();
    await pull.ended;
    this.waiting.delete(pull);
  }

  endPulls(): void {
    for (const pull of this.waiting) pull.close();
  }

  offerAgain(stray: Stray): void {
    this.strays.add(stray);
    this.lookAtStrays();
  }

  /** How many more could be given away, beside those that are being looked at. */
  private wanted(): number {
    let room = 0;
    for (const pull of this.waiting) room += pull.room;
    return Math.min(AT_ONCE_MAX, room) - this.looking.size;
  }

  private lookAtStrays(): void {
    for (const stray of this.strays.take(this.wanted())) this.look(offerOfStray(stray, this.strays));
  }

  /** Fetches while anybody waits. What a last fetch still brings when nobody does any more is handed back at once. */
  private async pump(): Promise<void> {
    if (this.isPumping) return;
    this.isPumping = true;
    while (this.hasRoom() && !this.services.stopping.aborted) await this.fetchOnce();
    this.isPumping = false;
  }

  private hasRoom(): boolean {
    for (const pull of this.waiting) if (pull.room > 0) return true;
    return false;
  }

  private async fetchOnce(): Promise<void> {
    try {
      this.lookAtStrays();
      const max = this.wanted();
      if (max <= 0) return await Promise.race(this.looking);
      const startedAt = performance.now();
      const brought = await this.fetch(max);
      if (brought === 0 && performance.now() - startedAt < BACK_OFF_MS) await sleep(BACK_OFF_MS);
    } catch (error) {
      await this.prepareOrReport(error);
    }
  }

  private async fetch(max: number): Promise<number> {
    const { pullPool, stopping } = this.services;
    let brought = 0;
    const pull = { max, expiresMs: FETCH_MS, signal: stopping };
    for await (const delivery of pullPool(poolDurable(this.tenant, this.pool), pull)) {
      brought += 1;
      this.lookAtDelivery(delivery);
    }
    return brought;
  }

  /** A command that cannot be read holds up nothing but itself. */
  private lookAtDelivery(delivery: Delivery<ContinuationCommand>): void {
    try {
      this.look(offerOfDelivery(delivery));
    } catch (error) {
      this.services.report(error, 'unreadable command');
      delivery.again(UNREADABLE_FOR_MS);
    }
  }

  /** A pool's subscription is made when it is first needed, by the orchestrator: nobody else may. */
  private async prepareOrReport(error: unknown): Promise<void> {
    const [pull] = this.waiting;
    const isMissing = error instanceof JetStreamApiError && error.code === CONSUMER_NOT_FOUND;
    if (!isMissing) this.services.report(error, 'pull');
    else await pull?.request.preparePool().catch((failed: unknown) => this.services.report(failed, 'prepare pool'));
    await sleep(isMissing ? 20 : BACK_OFF_MS);
  }

  private look(offer: Offer): void {
    const work = this.consider(offer).catch((error: unknown) => {
      this.services.report(error, 'offer');
      offer.later(SOON_MS);
    });
    this.looking.add(work);
    void work.finally(() => this.looking.delete(work));
  }

  /** What was heard is as good as the leader's word, as long as it is not behind the command itself. */
  private async consider(offer: Offer): Promise<void> {
    const { turnKey } = offer.command;
    const { events, heardOf, policies } = this.services;
    const heard = await judgedTurn(policies, this.tenant, heardOf(this.tenant, turnKey));
    if (heard && this.judge(offer, heard).is !== 'not-yet') return this.place(offer, heard);
    const whole = await judgedTurn(policies, this.tenant, await readWholeTurn(events, this.tenant, turnKey));
    if (whole) this.place(offer, whole);
    else offer.later(SOON_MS);
  }

  private judge(offer: Offer, whole: JudgedTurn): Judgement {
    return judgeOffer({ ...whole, ...offer, now: instant(this.services.clock()) });
  }

  /** Without a pause in it: what it sees of the waiting pulls stays true until the offer is given. */
  private place(offer: Offer, whole: JudgedTurn): void {
    const question = { ...whole, ...offer, now: instant(this.services.clock()) };
    const judgement = judgeOffer(question);
    switch (judgement.is) {
      case 'over':
        return offer.over();
      case 'later':
        return offer.later(judgement.ms);
      case 'not-yet':
        return offer.later(SOON_MS);
      case 'offer':
        return this.give(offer, whole, this.firstOf(offer, whole));
      case 'holder-only': {
        const holder = this.firstOf(
          offer,
          whole,
          (pull) => judgeOffer({ ...question, caller: pull.holder }).is === 'offer',
        );
        return this.give(offer, whole, holder, judgement.untilMs - Date.parse(question.now));
      }
      default:
        return unreachable(judgement);
    }
  }

  private firstOf(
    offer: Offer,
    { turn }: WholeTurn,
    also: (pull: WaitingPull) => boolean = () => true,
  ): WaitingPull | undefined {
    for (const pull of this.waiting)
      if (pull.room > 0 && mayTake(pull.request.caller, turn, offer.command) && also(pull)) return pull;
    return undefined;
  }

  private give(offer: Offer, { turn, approvals }: WholeTurn, pull: WaitingPull | undefined, othersMs?: number): void {
    if (!pull) return this.hasRoom() ? offer.notForThese(othersMs) : offer.noRoom();
    const { command, storedAt } = offer;
    const index = command.approvalId === undefined ? undefined : indexOfApproval(command.approvalId);
    pull.give({ command, storedAt, continuation: continuationOf(turn, approvals, index) });
  }
}
