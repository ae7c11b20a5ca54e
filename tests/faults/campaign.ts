import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { World } from '../support/world.js';
import { performAll, type Done, type Stage } from './actions.js';
import { check, type Verdict } from './checker/check.js';
import type { Violation } from './checker/violation.js';
import { figuresOf, type Figures } from './figures.js';
import { Keeper } from './keeper.js';
import { Ledger } from './ledger.js';
import { hire, Load, type Cast } from './load/load.js';
import { planNamedSteps, planRandomKills, type PlannedScenario } from './plan.js';
import { Random } from './random.js';

export interface CampaignOptions {
  readonly seed: number;
  readonly minutes?: number;
  readonly kills?: number;
  readonly cluster?: boolean;
  /** Which build of the services is tried; the product's own where missing. */
  readonly dist?: string;
  readonly scenarios?: readonly string[];
  readonly log?: (line: string) => void;
}

export interface ScenarioReport {
  readonly name: string;
  readonly faults: number;
  readonly missed: readonly string[];
  readonly endedByThemselves: readonly string[];
  readonly figures: Figures;
  readonly violations: readonly Violation[];
}

export interface Report {
  readonly seed: number;
  readonly cluster: boolean;
  readonly schedule: readonly PlannedScenario[];
  readonly scenarios: readonly ScenarioReport[];
  readonly violations: readonly Violation[];
  readonly notRun: readonly { readonly what: string; readonly why: string }[];
}

const LEASE_SECONDS = 4;
const DRAIN_MS = 60_000;

export function planCampaign({ seed, kills = 20, scenarios }: CampaignOptions): readonly PlannedScenario[] {
  const random = new Random(`schedule-${seed}`);
  const all: PlannedScenario[] = [
    { name: 'random-kills', actions: planRandomKills(random.fork('random-kills'), kills) },
    { name: 'named-steps', actions: planNamedSteps(random.fork('named-steps'), 3) },
  ];
  return all.filter(({ name }) => !scenarios || scenarios.includes(name));
}

export async function runCampaign(options: CampaignOptions): Promise<Report> {
  const { seed, cluster = false, dist, log = () => undefined } = options;
  const schedule = planCampaign(options);
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-faults-'));
  const world = await World.start({
    cluster,
    ...(dist === undefined ? {} : { dist }),
    env: { HOLDPOINT_LEASE_SECONDS: String(LEASE_SECONDS), HOLDPOINT_LOG_LEVEL: 'info' },
  });
  const keeper = new Keeper(world);
  const ledger = Ledger.open(join(folder, 'ledger.jsonl'));
  try {
    const cast = await hire(world);
    const scenarios: ScenarioReport[] = [];
    for (const planned of schedule)
      scenarios.push(await runScenario({ world, keeper, log, ledger, cast, seed }, planned));
    const violations = scenarios.flatMap((one) => one.violations);
    return { seed, cluster, schedule, scenarios, violations, notRun: [] };
  } finally {
    keeper.stop();
    await ledger.close();
    await world.stop();
  }
}

interface Running extends Stage {
  readonly ledger: Ledger;
  readonly cast: Cast;
  readonly seed: number;
}

async function runScenario(running: Running, { name, actions }: PlannedScenario): Promise<ScenarioReport> {
  const { world, keeper, log, ledger, cast, seed } = running;
  log(`# ${name}: ${actions.length} faults`);
  const from = Date.now();
  const load = Load.start({
    name,
    random: new Random(`load-${seed}-${name}`),
    ledger,
    cast,
    urls: [world.url],
    concurrency: 10,
  });
  const done = await performAll(running, actions, () => false);
  const to = Date.now();
  await keeper.allWell(DRAIN_MS);
  const stuck = await load.drain(DRAIN_MS);
  const entries = await ledger.read();
  log(
    `# ${name}: ${load.turnsBegun} turns, ${Math.round((to - from) / 1_000)} s of faults, ended ${Date.now() - to} ms after them`,
  );
  const verdict = await check({
    natsUrl: world.natsUrl,
    credsDir: world.servers.credsDir,
    databaseUrl: world.servers.databaseUrl,
    ledger: entries,
    stuck,
    standstillMs: 3_000,
  });
  return reportOf({ name, done, verdict, endedByThemselves: keeper.endedByThemselves.splice(0) }, () =>
    figuresOf({ ...verdict, entries: entries.filter(({ at }) => at >= from), turns: load.turnsBegun, from, to }),
  );
}

interface Ended {
  readonly name: string;
  readonly done: readonly Done[];
  readonly verdict: Verdict;
  readonly endedByThemselves: readonly string[];
}

function reportOf({ name, done, verdict, endedByThemselves }: Ended, figures: () => Figures): ScenarioReport {
  const missed = done
    .filter(({ happened }) => !happened)
    .map(({ action }) => `${action.target} ${action.step ?? action.kind}`);
  const { violations } = verdict;
  return { name, faults: done.length - missed.length, missed, endedByThemselves, figures: figures(), violations };
}
