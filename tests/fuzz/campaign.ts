import fc from 'fast-check';

export interface Budget {
  readonly seed: number;
  /** Where in the seed's sequence a failure was, as an earlier run has printed it. */
  readonly path?: string;
  readonly ms: number;
  /** As many as time allows where not said. */
  readonly runs?: number;
}

export interface Outcome {
  readonly name: string;
  readonly runs: number;
  /** Empty where all was well. */
  readonly findings: readonly string[];
  /** What was reached, for a reader to see that it was much. */
  readonly figures: Readonly<Record<string, unknown>>;
}

/** One kind of fuzzing, on a world of its own where it needs one. */
export type Campaign = (budget: Budget) => Promise<Outcome>;

/** Tries a property for as long as the budget allows; a failure comes with what reproduces it. */
export async function tryProperty<Ts>(
  property: fc.IRawProperty<Ts>,
  budget: Budget,
): Promise<{ runs: number; findings: string[] }> {
  const { seed, path, ms, runs = 100_000_000 } = budget;
  const details = await fc.check(property, {
    seed,
    numRuns: runs,
    interruptAfterTimeLimit: ms,
    ...(path === undefined ? {} : { path }),
  });
  return {
    runs: details.numRuns,
    findings: details.failed && details.counterexamplePath !== null ? [told(details)] : [],
  };
}

const SHOWN_MAX = 3_000;

function told<Ts>({ seed, counterexamplePath, counterexample, errorInstance }: fc.RunDetails<Ts>): string {
  const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  return `${why}\nwith ${fc.stringify(counterexample).slice(0, SHOWN_MAX)}\nagain by --seed ${seed} --path ${counterexamplePath ?? ''}`;
}
