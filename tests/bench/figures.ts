/** Of a share of all samples: 0.5 is the median. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const found = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (found === undefined) throw new Error('There are no samples');
  return found;
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);

/** As many digits as a measurement is worth. */
export const rounded = (figure: number): number => Number(figure.toPrecision(4));

export const latency = (samplesMs: readonly number[]) => ({
  samples: samplesMs.length,
  p50Ms: rounded(percentile(samplesMs, 0.5)),
  p95Ms: rounded(percentile(samplesMs, 0.95)),
  p99Ms: rounded(percentile(samplesMs, 0.99)),
});

export const atLeast = (ratio: number, target: number) => ({
  ratio: rounded(ratio),
  target: `at least ${target}`,
  met: ratio >= target,
});

export const below = (ratio: number, target: number) => ({
  ratio: rounded(ratio),
  target: `below ${target}`,
  met: ratio < target,
});

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1_000;
}
