import { describe, expect, it } from '@jest/globals';
import { crowded } from './connections/campaign.js';
import { httpCampaign } from './http/campaign.js';
import { rpcCampaign } from './rpc/campaign.js';

// The same seed each time, so that what is found here can be found again; `npm run fuzz` takes new ones, and longer.
const SEED = 1;

describe('generated and damaged input', () => {
  it('gets an honest answer at every address, and changes nothing where it is refused', async () => {
    const { findings } = await httpCampaign({ seed: SEED, ms: 25_000, runs: 1_500 });
    expect(findings).toEqual([]);
  });
  it('gets an answer or a refusal from the services that decide', async () => {
    const { findings } = await rpcCampaign({ seed: SEED, ms: 15_000, runs: 1_500 });
    expect(findings).toEqual([]);
  });
  it('that comes in crowds, slowly or never, leaves nothing behind', async () => {
    const { findings } = await crowded({ idle: 500, bad: 40, facts: 40 });
    expect(findings).toEqual([]);
  });
});
