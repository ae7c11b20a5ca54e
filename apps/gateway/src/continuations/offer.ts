import type { ContinuationCommand } from '#contracts/continuations/events';
import type { Delivery } from '#event-log/log';
import type { StrayOffers } from './stray-offers.js';
import type { Stray } from './waiting-pull.js';

/**
 * A command on its way to a worker. Where it is given to one, the broker is told nothing: it comes again when nobody has said for
 * ten seconds that it is over. Else one of the four is called, at once: nothing stays pending in this process.
 */
export interface Offer extends Stray {
  over(): void;
  later(ms: number): void;
  /** Nobody here has room for it now. */
  noRoom(): void;
  /** Those who wait here may not have it, for that long at most. */
  notForThese(atMostMs?: number): void;
}

const NO_ROOM_MS = 50;
const OTHERS_FIRST_MS = 250;
const OTHERS_MOST_MS = 2_000;

/** From the broker: whatever happens, it comes again until it is over. */
export function offerOfDelivery(delivery: Delivery<ContinuationCommand>): Offer {
  const { event, storedAt } = delivery.read();
  const backOffMs = Math.min(OTHERS_MOST_MS, OTHERS_FIRST_MS * 2 ** Math.min(delivery.deliveries - 1, 3));
  return {
    command: event.data,
    storedAt,
    over: () => delivery.ack(),
    later: (ms) => delivery.again(ms),
    noRoom: () => delivery.again(NO_ROOM_MS),
    notForThese: (atMostMs = backOffMs) => delivery.again(Math.max(1, Math.min(atMostMs, backOffMs))),
  };
}

/** From among the strays: one that must wait for long is left to the broker, the others go back. */
export const offerOfStray = (stray: Stray, strays: StrayOffers): Offer => ({
  ...stray,
  over: () => undefined,
  later: (ms) => (ms <= OTHERS_MOST_MS ? strays.add(stray) : undefined),
  noRoom: () => strays.add(stray),
  notForThese: () => strays.add(stray),
});
