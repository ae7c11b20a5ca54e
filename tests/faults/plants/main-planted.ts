import { UsageError } from '../usage-error.js';
import { PLANTS } from './plants.js';
import { writePlanted } from './report-planted.js';
import { runPlanted } from './run-planted.js';

/** `--planted [names]`: the exit code is 0 where the control is faultless and each plant was found. */
export async function planted(names: readonly string[], seed: number, folder: string): Promise<number> {
  const unknown = names.filter((name) => !PLANTS.some((plant) => plant.name === name));
  if (unknown.length > 0)
    throw new UsageError(
      `There is no plant ${unknown.join(', ')}; there are ${PLANTS.map(({ name }) => name).join(', ')}`,
    );
  const plants = PLANTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const trials = await runPlanted({ seed, plants, log: (line) => console.log(line) });
  console.log(`Written to ${writePlanted(folder, seed, trials)}`);
  return trials.every(({ isAsItMust }) => isAsItMust) ? 0 : 1;
}
