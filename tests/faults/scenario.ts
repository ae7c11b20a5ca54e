import type { World } from '../support/world.js';
import { labelOf, type Done, type Stage } from './actions.js';
import { check } from './checker/check.js';
import type { Violation } from './checker/violation.js';
import { figuresOf, type Figures } from './figures.js';
import type { Ledger } from './ledger.js';
import { Load, type Cast, type LoadFocus } from './load/load.js';
import { Random } from './random.js';
import { STANDSTILL_MS } from './timing.js';

export interface ScenarioReport {
  readonly name: string;
  readonly faults: number;
  /** Which faults, and how often each. */
  readonly counts: Readonly<Record<string, number>>;
  readonly missed: readonly string[];
  /** Services that ended though nobody had ended them. */
  readonly endedByThemselves: readonly string[];
  readonly secondsOfFaults: number;
  /** From the last fault until every turn had ended. */
  readonly recoveredMs: number;
  readonly figures: Figures;
  readonly violations: readonly Violation[];
}

export interface Running extends Stage {
  readonly ledger: Ledger;
  readonly cast: Cast;
  readonly seed: number;
  /** What earlier scenarios of this world have reported: the log is one, and keeps what is wrong in it. */
  readonly reported: Set<string>;
}

export interface Scene {
  readonly name: string;
  readonly faults: (stage: Running) => Promise<readonly Done[]>;
  readonly longestPauseMs: number;
  readonly focus?: LoadFocus;
  /** What a raw client wrote that no service would: not held against the product. */
  readonly poison?: ReadonlySet<string>;
}

const DRAIN_MS = 60_000;
const CONCURRENCY = 10;

/** Load, faults, a minute for everything to end, and then the log against the ledger. */
export async function play(running: Running, scene: Scene): Promise<ScenarioReport> {
  const { place, keeper, log, ledger, cast, seed, urls } = running;
  const { name } = scene;
  const from = Date.now();
  const load = Load.start({
    name,
    random: new Random(`load-${seed}-${name}`),
    ledger,
    cast,
    urls,
    concurrency: CONCURRENCY,
    ...(scene.focus ? { focus: scene.focus } : {}),
  });
  const done = await scene.faults(running).catch(async (error: unknown) => {
    await load.drain(0);
    throw error;
  });
  const to = Date.now();
  const notWell = await keeper.allWell(DRAIN_MS).then(
    () => [],
    (error: unknown) => [violation('services', `they are not ready a minute after the faults: ${String(error)}`)],
  );
  const stuck = await load.drain(DRAIN_MS);
  const recoveredMs = Date.now() - to;
  const entries = await ledger.read();
  const verdict = await check({ ...placesOf(place.world), ledger: entries, stuck, ...toleranceOf(scene) });
  const violations = [...notWell, ...verdict.violations].filter((one) => isNew(one, running.reported));
  const counted = { ...verdict, violations, entries: entries.filter(({ at }) => at >= from), turns: load.turnsBegun };
  const figures = figuresOf({ ...counted, from, to });
  log(`# ${name}: ${JSON.stringify({ secondsOfFaults: (to - from) / 1_000, recoveredMs, ...figures })}`);
  const endedByThemselves = keeper.endedByThemselves.splice(0);
  return {
    name,
    ...faultsOf(done),
    endedByThemselves,
    secondsOfFaults: (to - from) / 1_000,
    recoveredMs,
    figures,
    violations,
  };
}

function isNew(one: Violation, reported: Set<string>): boolean {
  const text = JSON.stringify(one);
  const isKnown = reported.has(text);
  reported.add(text);
  return !isKnown;
}

const violation = (subject: string, what: string): Violation => ({ invariant: 'I6', subject, what });
const toleranceOf = ({ longestPauseMs, poison = new Set<string>() }: Scene) => ({
  standstillMs: STANDSTILL_MS + longestPauseMs,
  poison,
});

const placesOf = ({ natsUrl, servers: { credsDir, databaseUrl } }: World) => ({ natsUrl, credsDir, databaseUrl });

function faultsOf(done: readonly Done[]): Pick<ScenarioReport, 'faults' | 'counts' | 'missed'> {
  const happened = done.filter((one) => one.happened);
  const counts: Record<string, number> = {};
  for (const { action } of happened) {
    const label = [action.kind, action.target, action.step].filter(Boolean).join(' ');
    counts[label] = (counts[label] ?? 0) + 1;
  }
  const missed = done.filter((one) => !one.happened).map(({ action }) => labelOf(action));
  return { faults: happened.length, counts, missed };
}
