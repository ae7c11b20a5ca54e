import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { EVENT_TYPES } from '../../../tests/fuzz/decoders/facts.js';
import { decodesOrRefuses, refusesListsInLists, staysTheSame } from '../../../tests/fuzz/decoders/properties.js';

// The same seed each time: what is found here can be found again. `npm run fuzz -- --only decoders` takes new ones.
const SEED = 20_260_301;

describe('an event of any values that its contract allows', () => {
  it.each(EVENT_TYPES)('comes back as it was written: %s', (type) =>
    fc.assert(staysTheSame(type), { seed: SEED, numRuns: 50 }),
  );
});

describe('a damaged fact', () => {
  it('is read or refused as unreadable, and does no other harm', () =>
    fc.assert(decodesOrRefuses(), { seed: SEED, numRuns: 500 }));
  it('with lists in lists is refused, however deep they go', () =>
    fc.assert(refusesListsInLists(), { seed: SEED, numRuns: 30 }));
});
