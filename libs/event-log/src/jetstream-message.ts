import type { JsMsg, StoredMsg } from '@nats-io/jetstream';
import { headers as natsHeaders, type MsgHdrs } from '@nats-io/transport-node';
import type { Written } from '#contracts/events';
import { instant, type Instant } from '#contracts/ids';
import { decodeFact } from './codec.js';
import type { Delivery, RawFact } from './log.js';

export const deliveryOf = <Event extends Written>(message: JsMsg): Delivery<Event> => ({
  raw: rawOfDelivered(message),
  read: () => decodeFact<Event>(rawOfDelivered(message)),
  deliveries: message.info.deliveryCount,
  working: () => message.working(),
  ack: () => message.ack(),
  again: (afterMs) => message.nak(afterMs),
});

export function toNatsHeaders(fields: Readonly<Record<string, string>>): MsgHdrs {
  const all = natsHeaders();
  for (const [name, value] of Object.entries(fields)) all.set(name, value);
  return all;
}

function plainHeaders(all: MsgHdrs | undefined): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, [value = '']] of all ?? []) plain[name.toLowerCase()] = value;
  return plain;
}

export const rawOfStored = (stored: StoredMsg): RawFact => ({
  seq: stored.seq,
  subject: stored.subject,
  headers: plainHeaders(stored.header),
  data: stored.data,
  storedAt: instant(stored.time.getTime()),
});

export const rawOfDelivered = (message: JsMsg): RawFact => ({
  seq: message.seq,
  subject: message.subject,
  headers: plainHeaders(message.headers),
  data: message.data,
  storedAt: storedAt(message.timestampNanos),
});

/** Cut before it becomes a number: as one, nanoseconds are rounded, now and then to the next millisecond, and the log says another time. */
const storedAt = (nanos: bigint): Instant => instant(Number(nanos / 1_000_000n));
