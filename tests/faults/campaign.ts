import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performAll } from './actions.js';
import type { Violation } from './checker/violation.js';
import { Keeper } from './keeper.js';
import { Ledger } from './ledger.js';
import { hire } from './load/load.js';
import { OWN_WORLDS } from './own-worlds/all.js';
import type { OwnWorld } from './own-worlds/own-world.js';
import { openPlace, type Place } from './places.js';
import { planScenarios, type PlannedScenario, type Scale, type Setup } from './plan.js';
import { Random } from './random.js';
import { play, type Running, type ScenarioReport } from './scenario.js';

export interface CampaignOptions {
  readonly seed: number;
  /** How much there is to be: ten minutes have 150 random kills and every named step three times. */
  readonly minutes?: number;
  /** Random kills, where there are to be more or fewer than the minutes say. */
  readonly kills?: number;
  readonly cluster?: boolean;
  /** Which build of the services is tried; the product's own where missing. */
  readonly dist?: string;
  readonly scenarios?: readonly string[];
  readonly log?: (line: string) => void;
}

export interface NotRun {
  readonly what: string;
  readonly why: string;
}

export interface Report {
  readonly seed: number;
  readonly cluster: boolean;
  readonly startedAt: string;
  readonly schedule: readonly PlannedScenario[];
  readonly scenarios: readonly ScenarioReport[];
  readonly violations: readonly Violation[];
  readonly notRun: readonly NotRun[];
}

const KILLS_IN_TEN_MINUTES = 150;
const ROUNDS_IN_TEN_MINUTES = 3;
const SETUPS: readonly Setup[] = ['plain', 'proxied'];

/** The same seed gives the same schedule: every fault, its target and its moment. */
export function planCampaign(options: CampaignOptions): readonly PlannedScenario[] {
  const { seed, kills, cluster = false, scenarios } = options;
  const share = (options.minutes ?? (kills === undefined ? 10 : (kills / KILLS_IN_TEN_MINUTES) * 10)) / 10;
  const scale: Scale = {
    share,
    kills: kills ?? Math.max(1, Math.round(KILLS_IN_TEN_MINUTES * share)),
    rounds: ROUNDS_IN_TEN_MINUTES * share,
  };
  return planScenarios(new Random(`schedule-${seed}`), scale, { cluster, only: scenarios });
}

export async function runCampaign(options: CampaignOptions): Promise<Report> {
  const { seed, cluster = false, log = () => undefined } = options;
  const schedule = planCampaign(options);
  const startedAt = new Date().toISOString();
  const scenarios: ScenarioReport[] = [];
  for (const setup of SETUPS) {
    const planned = schedule.filter((one) => one.setup === setup);
    if (planned.length > 0) scenarios.push(...(await inOnePlace(options, setup, planned)));
  }
  // They are on one server; a campaign on a cluster has had them only where they were asked for.
  const own = OWN_WORLDS.filter(({ name }) => options.scenarios?.includes(name) ?? !cluster);
  const notRun: NotRun[] = [...NEVER_RUN];
  for (const world of own) {
    const why = world.whyNot();
    if (why !== undefined) notRun.push({ what: world.name, why });
    else scenarios.push(await inOwnWorld(options, world));
  }
  for (const { what, why } of notRun) log(`not run: ${what}: ${why}`);
  const violations = scenarios.flatMap((one) => one.violations);
  return { seed, cluster, startedAt, schedule, scenarios, violations, notRun };
}

const NEVER_RUN: readonly NotRun[] = [
  {
    what: 'a durable subscription deleted under load',
    why: 'no identity on the broker may delete one (deploy/nats/permissions.mjs), a stolen one neither; tests/security tries it',
  },
];

const inOnePlace = (options: CampaignOptions, setup: Setup, planned: readonly PlannedScenario[]) =>
  inPlace(
    options,
    () => openPlace({ ...placeOf(options), setup }),
    async (running) => {
      const reports: ScenarioReport[] = [];
      for (const { name, actions } of planned) {
        running.log(`# ${name}: ${actions.length} faults`);
        const longestPauseMs = Math.max(0, ...actions.map(({ kind, forMs = 0 }) => (kind === 'pause' ? forMs : 0)));
        reports.push(await play(running, { name, longestPauseMs, faults: (stage) => performAll(stage, actions) }));
        await running.keeper.endOthers();
        running.urls.splice(1);
      }
      return reports;
    },
  );

const inOwnWorld = (options: CampaignOptions, own: OwnWorld): Promise<ScenarioReport> =>
  own.within((more) =>
    inPlace(
      options,
      () => openPlace({ ...placeOf(options), cluster: false, setup: 'plain', ...more }),
      (running) => {
        running.log(`# ${own.name}`);
        return own.run(running);
      },
    ),
  );

const placeOf = ({ cluster = false, dist }: CampaignOptions) => ({ cluster, dist });

async function inPlace<Result>(
  { seed, log = () => undefined }: CampaignOptions,
  open: () => Promise<Place>,
  run: (running: Running) => Promise<Result>,
): Promise<Result> {
  const place = await open();
  const keeper = new Keeper(place.world);
  const ledger = Ledger.open(join(mkdtempSync(join(tmpdir(), 'holdpoint-faults-')), 'ledger.jsonl'));
  try {
    const cast = await hire(place.world);
    return await run({ place, keeper, ledger, cast, seed, log, urls: [place.world.url], reported: new Set() });
  } finally {
    keeper.stop();
    await ledger.close();
    await place.close();
  }
}
