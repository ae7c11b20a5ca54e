import { parseArgs } from 'node:util';
import type { Campaign } from './campaign.js';

/** Each in a module of its own, loaded when it is its turn. */
const CAMPAIGNS: Readonly<Record<string, () => Promise<Campaign>>> = {
  decoders: async () => (await import('./decoders/campaign.js')).decodersCampaign,
  http: async () => (await import('./http/campaign.js')).httpCampaign,
  rpc: async () => (await import('./rpc/campaign.js')).rpcCampaign,
  connections: async () => (await import('./connections/campaign.js')).connectionsCampaign,
};

const OPTIONS = {
  seed: { type: 'string' },
  minutes: { type: 'string', default: '10' },
  only: { type: 'string' },
  path: { type: 'string' },
} as const;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const seed = values.seed === undefined ? Date.now() % 2_147_483_647 : wholeNumber('seed', values.seed);
  const names = values.only === undefined ? Object.keys(CAMPAIGNS) : values.only.split(',');
  const ms = (wholeNumber('minutes', values.minutes) * 60_000) / names.length;
  for (const name of names) {
    const load = CAMPAIGNS[name];
    if (!load) throw new Error(`There is no campaign "${name}"; there are ${Object.keys(CAMPAIGNS).join(', ')}`);
    console.log(`${name}: seed ${seed}, ${Math.round(ms / 1_000)} s`);
    const run = await load();
    const outcome = await run({ seed, ms, ...(values.path === undefined ? {} : { path: values.path }) });
    console.log(JSON.stringify(outcome, undefined, 2));
    if (outcome.findings.length > 0) process.exitCode = 1;
  }
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (text === '' || !Number.isFinite(value)) throw new Error(`--${name} must be a number, not "${text}"`);
  return value;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
