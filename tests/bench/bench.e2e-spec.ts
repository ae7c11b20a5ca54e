import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '#tools/test-servers';

const run = promisify(execFile);
const swc = join(ROOT, 'node_modules/@swc/cli/bin/swc.js');

/** Small: that each runs and says what it should, not how fast anything is. */
const SMALL: readonly (readonly [string, ...string[]])[] = [
  ['project', '--events', '1500', '--rounds', '1'],
  ['replay', '--events', '1500', '--rounds', '1'],
  ['parked', '--pending', '200', '--rounds', '1'],
  ['loop', '--seconds', '1', '--rounds', '1', '--concurrency', '4'],
  ['policy', '--seconds', '1', '--rounds', '1'],
  ['simulate', '--requests', '6000', '--seconds', '1', '--rounds', '1'],
  ['soak', '--seconds', '20', '--concurrency', '4'],
  ['fanout', '--streams', '5', '--workers', '10', '--seconds', '1', '--rounds', '1', '--per-second', '10'],
];

const figuresIn = (value: unknown): number[] => {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(figuresIn) : [];
};

describe('the benchmarks', () => {
  beforeAll(() =>
    run(process.execPath, [swc, 'tests', '--out-dir', 'dist', '--config-file', '.swcrc', '--quiet'], { cwd: ROOT }),
  );

  it.each(SMALL)('%s prints a JSON object a line, its figures, and last its ratio', async (name, ...sizes) => {
    const { stdout } = await run(process.execPath, ['dist/tests/bench/main.js', name, ...sizes], { cwd: ROOT });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line).toMatchObject({ name });
    const rounds = lines.filter(({ part }) => part === 'round' || part === 'decisions');
    for (const { product, floor } of rounds)
      for (const figure of [...figuresIn(product), ...figuresIn(floor)]) expect(figure).toBeGreaterThan(0);
    expect(rounds.length).toBeGreaterThan(0);
    expect(lines.at(-1)).toMatchObject({
      ratio: expect.any(Number),
      target: expect.any(String),
      met: expect.any(Boolean),
    });
  });
});
