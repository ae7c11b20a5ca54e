import { describe, expect, it } from '@jest/globals';
import type { JsMsg } from '@nats-io/jetstream';
import { rawOfDelivered } from './jetstream-message.js';

/** As the client hands it over: the same time whole, and as a number. */
const deliveredAt = (timestampNanos: bigint) => {
  const info = { timestampNanos: Number(timestampNanos) };
  return rawOfDelivered({ seq: 1, subject: 's', data: new Uint8Array(), timestampNanos, info } as unknown as JsMsg);
};

describe('when a delivered message was stored', () => {
  it('is told to the millisecond', () =>
    expect(deliveredAt(1796108400123456789n).storedAt).toBe('2026-12-01T07:00:00.123Z'));

  it('is not rounded to the next one: the log would tell another time', () =>
    expect(deliveredAt(1796108400123999999n).storedAt).toBe('2026-12-01T07:00:00.123Z'));
});
