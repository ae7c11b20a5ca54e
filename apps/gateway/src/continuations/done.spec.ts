import { describe, expect, it } from '@jest/globals';
import type { HoldpointEvent } from '#contracts/events';
import type { LeaseKey } from '#contracts/ids';
import { readWholeTurn } from '#fold/read';
import { refuseDone } from './done.js';
import {
  call,
  decided,
  ended,
  logOf,
  OTHER_TOKEN,
  requested,
  resumed,
  revoked,
  started,
  succeeded,
  TENANT,
  TURN_KEY,
  worker,
} from './stories-for-spec.js';

async function refusedFor(
  more: { key?: LeaseKey; attempt?: number; workerId?: string; caller?: ReturnType<typeof worker> },
  ...facts: readonly HoldpointEvent[]
) {
  const each = requested({ release: 'each', calls: 2 });
  const whole = await readWholeTurn((await logOf(each, decided(0), ...facts)).events, TENANT, TURN_KEY);
  if (!whole) throw new Error('The story begins with a request');
  return refuseDone(whole, { caller: worker(), key: call(0), workerId: 'w-1', attempt: 1, ...more })?.reason;
}
const taken = resumed({ key: call(0) });
const ran = [taken, started(0), succeeded(0)];

describe('a call needs no further offer', () => {
  it('when it has its outcome', async () => expect(await refusedFor({}, ...ran)).toBeUndefined());
  it('when it was revoked', async () => expect(await refusedFor({}, taken, revoked(0))).toBeUndefined());
  it('but not before', async () => expect(await refusedFor({}, taken, started(0))).toBe('not-ready'));
  it.each([
    ['of an older attempt', { attempt: 2 }],
    ['of another worker', { workerId: 'w-2' }],
    ['under another token', { caller: worker({ tokenId: OTHER_TOKEN }) }],
  ])('and nobody says so %s', async (_, more) => expect(await refusedFor(more, ...ran)).toBe('stale-attempt'));
  it('and not of a call that is none', async () =>
    expect(await refusedFor({ key: call(7) }, ...ran)).toBe('not-found'));
});

describe('a turn needs no further offer', () => {
  it('when it has ended', async () => expect(await refusedFor({ key: TURN_KEY }, ended())).toBeUndefined());
  it('but not before', async () => expect(await refusedFor({ key: TURN_KEY }, ...ran)).toBe('not-ready'));
});
