import { describe, expect, it } from '@jest/globals';
import type { TurnKey } from '#contracts/ids';
import { awaitChange } from './await-decision.js';

/** Wakes whoever waits; counts who still does. */
function changes() {
  const waiting = new Set<() => void>();
  const untilChanged = (_: TurnKey, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        waiting.delete(wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  return { untilChanged, wake: () => [...waiting].forEach((wake) => wake()), count: () => waiting.size };
}

const never = new AbortController().signal;
const waiting = {
  turnKey: 'tn_x' as TurnKey,
  seconds: 30,
  gone: never,
  isDone: (state: string) => state === 'decided',
};

describe('waiting for a turn', () => {
  it('ends at once where it is decided, and leaves nobody waiting', async () => {
    const hub = changes();
    expect(await awaitChange(hub, { ...waiting, read: () => Promise.resolve('decided') })).toBe('decided');
    expect(hub.count()).toBe(0);
  });

  it('misses no change that comes while it reads', async () => {
    const hub = changes();
    let state = 'open';
    const read = () => {
      const seen = state;
      state = 'decided';
      hub.wake();
      return Promise.resolve(seen);
    };
    expect(await awaitChange(hub, { ...waiting, read })).toBe('decided');
    expect(hub.count()).toBe(0);
  });

  it('ends with what there is when the time is over or the client gone', async () => {
    const hub = changes();
    const read = () => Promise.resolve('open');
    expect(await awaitChange(hub, { ...waiting, seconds: 0.05, read })).toBe('open');
    const gone = new AbortController();
    const answer = awaitChange(hub, { ...waiting, gone: gone.signal, read });
    gone.abort();
    expect(await answer).toBe('open');
    expect(hub.count()).toBe(0);
  });

  it('passes on that the log does not answer, and leaves nobody waiting', async () => {
    const hub = changes();
    const read = () => Promise.reject(new Error('no answer'));
    await expect(awaitChange(hub, { ...waiting, read })).rejects.toThrow('no answer');
    expect(hub.count()).toBe(0);
  });
});
