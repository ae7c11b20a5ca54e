import { describe, expect, it } from '@jest/globals';
import { instant } from '#contracts/ids';
import type { RawFact } from '#event-log/log';
import { Inflow } from './inflow.js';

const raw = (seq: number): RawFact => ({
  seq,
  subject: 's',
  headers: {},
  data: new Uint8Array(),
  storedAt: instant(0),
});
const tick = () => new Promise((resolve) => setImmediate(resolve));

async function* counting(most: number, read: number[] = [], fails = false): AsyncIterable<RawFact> {
  for (let seq = 1; seq <= most; seq += 1) {
    read.push(seq);
    await tick();
    yield raw(seq);
  }
  if (fails) throw new Error('gone');
}

async function all(inflow: Inflow<RawFact>, most: number): Promise<number[]> {
  const seqs: number[] = [];
  for (let taken = await inflow.take(most); taken.length > 0; taken = await inflow.take(most))
    seqs.push(...taken.map(({ seq }) => seq));
  return seqs;
}

describe('reading ahead', () => {
  it('gives everything once, in order, and then nothing', async () =>
    expect(await all(new Inflow(counting(50), 7), 3)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1)));
  it('gives what is there without waiting for more', async () => {
    const inflow = new Inflow(counting(50), 10);
    expect((await inflow.take(500)).length).toBeLessThan(50);
    inflow.end();
    await inflow.closed;
  });
  it('reads no further than it has room for', async () => {
    const read: number[] = [];
    const inflow = new Inflow(counting(50, read), 4);
    for (let turn = 0; turn < 60; turn += 1) await tick();
    expect(read).toEqual([1, 2, 3, 4]);
    inflow.end();
    await inflow.closed;
  });
  it('gives what came before an error, and then the error', async () => {
    const inflow = new Inflow(counting(3, [], true), 100);
    await inflow.closed;
    expect((await inflow.take(10)).length).toBe(3);
    await expect(inflow.take(10)).rejects.toThrow('gone');
  });
});
