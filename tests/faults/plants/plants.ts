import { CONTINUATION_PLANTS } from './continuation-plants.js';
import { GRANT_PLANTS } from './grant-plants.js';
import { LOG_PLANTS } from './log-plants.js';
import type { Plant } from './plant.js';
import { READ_MODEL_PLANTS } from './read-model-plants.js';
import { RULE_PLANTS } from './rule-plants.js';

/** Every fault that the campaign is proven to find. */
export const PLANTS: readonly Plant[] = [
  ...LOG_PLANTS,
  ...CONTINUATION_PLANTS,
  ...RULE_PLANTS,
  ...GRANT_PLANTS,
  ...READ_MODEL_PLANTS,
];
