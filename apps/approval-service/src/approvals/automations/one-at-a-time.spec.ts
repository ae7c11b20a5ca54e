import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { OneAtATime } from './one-at-a-time.js';

describe('work under one key', () => {
  it('is done one after the other, also after one that failed; under another key beside it', async () => {
    const queue = new OneAtATime();
    const told: string[] = [];
    const work = (name: string, ms: number) => async () => {
      told.push(`${name} begins`);
      await sleep(ms);
      told.push(`${name} ends`);
      if (name === 'b') throw new Error('no');
      return name;
    };
    const done = [
      queue.run('k', work('a', 20)),
      queue.run('k', work('b', 1)),
      queue.run('k', work('c', 1)),
      queue.run('other', work('d', 1)),
    ];
    expect(await Promise.allSettled(done)).toMatchObject([
      { value: 'a' },
      { status: 'rejected' },
      { value: 'c' },
      { value: 'd' },
    ]);
    const ofKey = told.filter((line) => !line.startsWith('d'));
    expect(ofKey).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(told.indexOf('d begins')).toBeLessThan(told.indexOf('a ends'));
  });
});
