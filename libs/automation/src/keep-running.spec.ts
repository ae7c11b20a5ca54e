import { describe, expect, it } from '@jest/globals';
import { keepRunning } from './keep-running.js';

describe('a loop that is kept running', () => {
  it('is begun again after it broke and after it ended, until aborted', async () => {
    const stop = new AbortController();
    const broke: unknown[] = [];
    let rounds = 0;
    const run = () => {
      rounds += 1;
      if (rounds === 3) stop.abort();
      return rounds === 1 ? Promise.reject(new Error('away')) : Promise.resolve();
    };
    await keepRunning({ run, broke: (error) => broke.push(error), pauseMs: 1 }, stop.signal);
    expect({ rounds, broke }).toEqual({ rounds: 3, broke: [new Error('away')] });
  });

  it('is not reported for what breaks because it was told to stop', async () => {
    const stop = new AbortController();
    const broke: unknown[] = [];
    const run = () => {
      stop.abort();
      return Promise.reject(new Error('closed'));
    };
    await keepRunning({ run, broke: (error) => broke.push(error) }, stop.signal);
    expect(broke).toEqual([]);
  });
});
