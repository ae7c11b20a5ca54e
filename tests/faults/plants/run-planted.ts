import type { Invariant, Violation } from '../checker/violation.js';
import type { Plant } from './plant.js';
import { plantedBuild } from './planted-build.js';
import { shortCampaign } from './short-campaign.js';

export interface PlantedOptions {
  readonly seed: number;
  readonly plants: readonly Plant[];
  readonly log: (line: string) => void;
}

/** What a campaign on one build came to. */
export interface Trial {
  readonly name: string;
  readonly what: string;
  /** None for the control, which must be without any violation. */
  readonly mustBeFoundBy: readonly Invariant[];
  readonly foundBy: Readonly<Partial<Record<Invariant, number>>>;
  readonly example: string;
  readonly seconds: number;
  readonly isAsItMust: boolean;
}

/** A trial mostly waits: two share a machine well. */
const TRIALS_AT_ONCE = 2;
const CONTROL: Plant = { name: 'nothing-planted', what: 'The product as it is.', changes: [], foundBy: [] };

/** The product as it is, then each plant: the first must be found faultless, each other faulty. */
export async function runPlanted({ seed, plants, log }: PlantedOptions): Promise<readonly Trial[]> {
  const todo = [controlOf(plants), ...plants].map((plant, place) => ({ plant, place }));
  const trials: Trial[] = [];
  const lane = async () => {
    for (let next = todo.shift(); next; next = todo.shift()) {
      const trial = await tryPlant(next.plant, seed);
      log(
        `${trial.isAsItMust ? 'ok    ' : 'FAILED'} ${trial.name}: ${summaryOf(trial)}, ${trial.seconds} s${trial.isAsItMust ? '' : `: ${trial.example}`}`,
      );
      trials[next.place] = trial;
    }
  };
  await Promise.all(Array.from({ length: TRIALS_AT_ONCE }, lane));
  return trials;
}

export const summaryOf = ({ foundBy }: Trial): string =>
  Object.entries(foundBy)
    .map(([invariant, times]) => `${invariant} ${times}×`)
    .join(' ') || 'no violation';

/** It goes through every fault that any of the plants goes through. */
function controlOf(plants: readonly Plant[]): Plant {
  const faults = plants.flatMap(({ during = [] }) => during);
  const different = new Map(faults.map((fault) => [JSON.stringify(fault), fault]));
  return { ...CONTROL, during: [...different.values()] };
}

/** One that could not be tried has proven nothing. */
async function tryPlant(plant: Plant, seed: number): Promise<Trial> {
  const { name, what, foundBy: mustBeFoundBy } = plant;
  const from = Date.now();
  const tried = await violationsOf(plant, seed).catch((error: unknown) => String(error));
  const trial = { name, what, mustBeFoundBy, seconds: Math.round((Date.now() - from) / 1_000) };
  return typeof tried === 'string'
    ? { ...trial, foundBy: {}, example: `It could not be tried: ${tried}`, isAsItMust: false }
    : { ...trial, ...judged(mustBeFoundBy, tried) };
}

async function violationsOf(plant: Plant, seed: number): Promise<readonly Violation[]> {
  const build = plant.changes.length === 0 ? undefined : plantedBuild(plant);
  try {
    return await shortCampaign({ plant, seed, dist: build?.dist });
  } finally {
    build?.remove();
  }
}

function judged(
  must: readonly Invariant[],
  violations: readonly Violation[],
): Pick<Trial, 'foundBy' | 'example' | 'isAsItMust'> {
  const foundBy: Partial<Record<Invariant, number>> = {};
  for (const { invariant } of violations) foundBy[invariant] = (foundBy[invariant] ?? 0) + 1;
  const shown = violations.find(({ invariant }) => must.includes(invariant)) ?? violations[0];
  const isFound = must.some((one) => foundBy[one] !== undefined);
  return {
    foundBy,
    example: shown ? `${shown.subject}: ${shown.what}` : '',
    isAsItMust: must.length === 0 ? violations.length === 0 : isFound,
  };
}
