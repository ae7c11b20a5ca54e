import { checkpointAhead } from './checkpoint-ahead.js';
import { diskFull, powerLoss } from './disks.js';
import type { OwnWorld } from './own-world.js';
import { poison } from './poison.js';

export const OWN_WORLDS: readonly OwnWorld[] = [diskFull, powerLoss, checkpointAhead, poison];
