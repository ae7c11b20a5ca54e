import { tryProperty, type Budget, type Outcome } from '../campaign.js';
import { EVENT_TYPES } from './facts.js';
import { decodesOrRefuses, refusesListsInLists, staysTheSame } from './properties.js';

/** Every type's round trip for a third of the time, damaged facts for the rest. */
export async function decodersCampaign(budget: Budget): Promise<Outcome> {
  const each = { ...budget, ms: budget.ms / 3 / EVENT_TYPES.length };
  const outcomes = [];
  for (const type of EVENT_TYPES) outcomes.push(await tryProperty(staysTheSame(type), each));
  const damaged = await tryProperty(decodesOrRefuses(), { ...budget, ms: (budget.ms * 2) / 3 });
  const nested = await tryProperty(refusesListsInLists(), { ...budget, ms: 5_000, runs: 100 });
  const roundTrips = outcomes.reduce((sum, { runs }) => sum + runs, 0);
  return {
    name: 'decoders',
    runs: roundTrips + damaged.runs + nested.runs,
    findings: [...outcomes, damaged, nested].flatMap(({ findings }) => findings),
    figures: { roundTrips, damaged: damaged.runs },
  };
}
