import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { World } from '../../support/world.js';
import { check } from '../checker/check.js';
import type { Violation } from '../checker/violation.js';
import { Keeper } from '../keeper.js';
import { Ledger } from '../ledger.js';
import type { OpenedTurn } from '../load/board.js';
import { hire, Load, type Cast } from '../load/load.js';
import { Random } from '../random.js';
import { LEASE_SECONDS } from '../timing.js';
import type { Plant, Trouble } from './plant.js';

export interface ShortCampaign {
  readonly plant: Plant;
  readonly seed: number;
  /** The project's own build where missing. */
  readonly dist: string | undefined;
}

/** Nobody waits for workers that only die or dawdle. */
const BRISK = {
  slow: 0,
  'dies-before-use': 0,
  'dies-after-use': 0,
  'dies-after-run': 0,
  'dies-before-end': 0,
  'late-outcome': 0,
} as const;
const CONCURRENCY = 6;
/** As much as shows a fault that shows now and then, in a time that a slow machine is not held to. */
const TURNS = 40;
const TURNS_WITHIN_MS = 40_000;
const END_WITHIN_MS = 20_000;
const STEP_WITHIN_MS = 60_000;
/** Between a service's reading and its writing, the broker's pause within. */
const STANDSTILL_MS = 6_000;

/** The campaign's own load, ledger and checker, for as long as it takes that one fault shows. */
export async function shortCampaign({ plant, seed, dist }: ShortCampaign): Promise<readonly Violation[]> {
  const env = { HOLDPOINT_LEASE_SECONDS: String(LEASE_SECONDS), HOLDPOINT_LOG_LEVEL: 'info' };
  const world = await World.start({ env, ...(dist === undefined ? {} : { dist }) });
  const keeper = new Keeper(world);
  const ledger = Ledger.open(join(world.servers.dir, 'ledger.jsonl'));
  try {
    const cast = await hire(world);
    const stuck = await underLoad({ plant, seed, ledger, cast, url: world.url }, async (load) => {
      for (const trouble of plant.during ?? []) await make(trouble, { world, keeper });
      const until = Date.now() + TURNS_WITHIN_MS;
      while (load.turnsBegun < TURNS && Date.now() < until) await sleep(100);
    });
    const { natsUrl, servers } = world;
    const { violations } = await check({
      natsUrl,
      credsDir: servers.credsDir,
      databaseUrl: servers.databaseUrl,
      ledger: await ledger.read(),
      stuck,
      standstillMs: STANDSTILL_MS,
      levelWithinMs: END_WITHIN_MS,
      poison: new Set(),
    });
    return violations;
  } finally {
    keeper.stop();
    await ledger.close();
    await world.stop();
  }
}

interface Loaded extends Pick<ShortCampaign, 'plant' | 'seed'> {
  readonly ledger: Ledger;
  readonly cast: Cast;
  readonly url: string;
}

/** What did not come to its end. Whatever happens, nobody goes on asking afterwards. */
async function underLoad(
  { plant, seed, ledger, cast, url }: Loaded,
  during: (load: Load) => Promise<void>,
): Promise<readonly OpenedTurn[]> {
  const load = Load.start({
    name: plant.name,
    random: new Random(`load-${seed}-${plant.name}`),
    ledger,
    cast,
    urls: [url],
    concurrency: CONCURRENCY,
    focus: { ...plant.focus, manners: { ...BRISK, ...plant.focus?.manners } },
  });
  await during(load).catch(async (error: unknown) => {
    await load.drain(0);
    throw error;
  });
  return load.drain(END_WITHIN_MS);
}

async function make(
  trouble: Trouble,
  { world, keeper }: { readonly world: World; readonly keeper: Keeper },
): Promise<void> {
  await sleep(500);
  if (trouble.kind === 'broker-pause') {
    world.servers.nats.pause();
    await sleep(trouble.forMs);
    return world.servers.nats.resume();
  }
  const { service, step } = trouble;
  const came = await keeper.endAt(service, { step, passes: 0 }, STEP_WITHIN_MS);
  if (!came) throw new Error(`${service} did not come to ${step} in ${STEP_WITHIN_MS} ms`);
  await keeper.allWell(STEP_WITHIN_MS);
}
