import { NAMED_STEPS } from '../support/steps.js';
import { SERVICES } from '../support/world.js';
import type { Random } from './random.js';

/** What the faults of a world that lives on are called. */
export type Kind =
  | 'kill'
  | 'kill-at'
  | 'restart'
  | 'pause'
  | 'skew'
  | 'second'
  | 'broker-kill'
  | 'broker-restart'
  | 'broker-pause'
  | 'leader-kill'
  | 'leader-pause'
  | 'rolling-restart'
  | 'quorum-loss'
  | 'partition'
  | 'link'
  | 'postgres-restart'
  | 'postgres-kill'
  | 'postgres-outage'
  | 'postgres-older';

/** One fault of the schedule. Lanes go on side by side, the faults of one lane one after the other. */
export interface Action {
  readonly lane: string;
  readonly kind: Kind;
  /** A service, or how: what of a link, how much of a clock. */
  readonly target: string;
  readonly step?: string;
  /** How often the step is let pass first. */
  readonly passes?: number;
  readonly afterMs: number;
  readonly forMs?: number;
}

/** In which kind of world a scenario happens: `proxied` has proxies between services and broker, or between the three brokers. */
export type Setup = 'plain' | 'proxied';

export interface PlannedScenario {
  readonly name: string;
  readonly setup: Setup;
  readonly actions: readonly Action[];
}

export interface Scale {
  readonly kills: number;
  /** How often each named step; a part of one is that part of the steps. */
  readonly rounds: number;
  /** Of the faults that a campaign of ten minutes has. */
  readonly share: number;
}

interface Entry {
  readonly name: string;
  readonly on: 'single' | 'cluster' | 'any';
  readonly setup: Setup;
  readonly plan: (random: Random, scale: Scale) => Action[];
}

const times = <Item>(count: number, make: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => make(n));
const some = (full: number, { share }: Scale): number => Math.max(1, Math.round(full * share));
const one = (random: Random, kind: Kind, more: Partial<Action> = {}): Action => ({
  lane: kind,
  kind,
  target: '',
  afterMs: random.between(1_000, 3_000),
  forMs: random.between(3_000, 15_000),
  ...more,
});
const onServices = (random: Random, kind: Kind, count: number, names: readonly string[] = SERVICES): Action[] =>
  times(count, () => {
    const target = random.pick(names);
    const { forMs, ...action } = one(random, kind, { lane: target, target, afterMs: random.between(800, 4_000) });
    return kind === 'pause' && forMs !== undefined ? { ...action, forMs } : action;
  });

/** Everything that can happen to a world that lives on. Names are for `--only`. */
const SCENARIOS: readonly Entry[] = [
  {
    name: 'random-kills',
    on: 'any',
    setup: 'plain',
    // Longer between them than a start takes: what is killed is to be at work.
    plan: (random, { kills }) =>
      onServices(random, 'kill', kills).map((kill) => ({ ...kill, afterMs: random.between(2_000, 10_000) })),
  },
  { name: 'named-steps', on: 'any', setup: 'plain', plan: (random, { rounds }) => namedSteps(random, rounds) },
  {
    name: 'restarts',
    on: 'any',
    setup: 'plain',
    plan: (random, scale) => onServices(random, 'restart', some(12, scale)),
  },
  {
    name: 'pauses',
    on: 'any',
    setup: 'plain',
    plan: (random, scale) => onServices(random, 'pause', some(5, scale)),
  },
  { name: 'two-of-everything', on: 'any', setup: 'plain', plan: twoOfEverything },
  {
    name: 'clock-skew',
    on: 'any',
    setup: 'plain',
    plan: (random, scale) =>
      times(some(3, scale), (n) => {
        const target = SERVICES[n % SERVICES.length] ?? 'orchestrator';
        const minutes = random.pick([-10, 10]);
        return one(random, 'skew', { target, step: String(minutes * 60_000), forMs: random.between(3_000, 6_000) });
      }),
  },
  {
    name: 'broker',
    on: 'single',
    setup: 'plain',
    plan: (random, scale) =>
      times(some(20, scale), () =>
        one(random, random.pick(['broker-kill', 'broker-kill', 'broker-restart']), {
          lane: 'broker',
          forMs: random.between(0, 2_000),
        }),
      ),
  },
  {
    name: 'broker-pauses',
    on: 'single',
    setup: 'plain',
    plan: (random, scale) => times(some(3, scale), () => one(random, 'broker-pause')),
  },
  {
    name: 'leader-kills',
    on: 'cluster',
    setup: 'plain',
    plan: (random, scale) =>
      times(some(12, scale), () => one(random, 'leader-kill', { forMs: random.between(0, 2_000) })),
  },
  {
    name: 'leader-pauses',
    on: 'cluster',
    setup: 'plain',
    plan: (random, scale) => times(some(3, scale), () => one(random, 'leader-pause')),
  },
  {
    name: 'rolling-restart',
    on: 'cluster',
    setup: 'plain',
    plan: (random, scale) => times(some(2, scale), () => one(random, 'rolling-restart')),
  },
  {
    name: 'quorum-loss',
    on: 'cluster',
    setup: 'plain',
    plan: (random, scale) =>
      times(some(2, scale), () => one(random, 'quorum-loss', { forMs: random.between(5_000, 20_000) })),
  },
  {
    name: 'postgres',
    on: 'any',
    setup: 'plain',
    plan: (random, scale) =>
      random
        .shuffled(['postgres-restart', 'postgres-kill', 'postgres-outage', 'postgres-older'] as const)
        .slice(0, some(4, scale))
        .map((kind) => one(random, kind, { lane: 'postgres' })),
  },
  {
    name: 'links',
    on: 'single',
    setup: 'proxied',
    plan: (random, scale) =>
      times(some(8, scale), () => {
        const step = random.pick(['cut', 'hole', '150', '600']);
        return one(random, 'link', { target: random.pick(SERVICES), step, forMs: random.between(2_000, 8_000) });
      }),
  },
  {
    name: 'partitions',
    on: 'cluster',
    setup: 'proxied',
    plan: (random, scale) =>
      times(some(3, scale), () => one(random, 'partition', { step: random.pick(['cut', 'hole']) })),
  },
];

/** What grants come of and what comes of them, step by step: each is something that a killed service leaves to the next. */
const GRANT_STEPS = ['GrantIssued', 'GrantRedeemed', 'GrantEnded'].flatMap((type) =>
  ['before', 'after'].map((when) => ({ target: 'approval-service', step: `${when}-append:${type}` })),
);

/** Every step that a service is ended at. */
export const STEPS = [...NAMED_STEPS.map(([target, step]) => ({ target, step })), ...GRANT_STEPS];

/** One service at a time, so that the others bring the load to its steps. Steps that come often are let pass more often. */
function namedSteps(random: Random, rounds: number): Action[] {
  const all = times(Math.ceil(rounds), () => random.shuffled(STEPS)).flat();
  const chosen = all.slice(0, Math.max(3, Math.round(STEPS.length * rounds)));
  return random.shuffled(SERVICES).flatMap((service) =>
    chosen
      .filter(({ target }) => target === service)
      .map(({ target, step }): Action => {
        const seldom = /Revoked|cancel|Ended|Grant/.test(step);
        const passes = random.between(0, seldom ? 1 : 6);
        return { lane: 'steps', kind: 'kill-at', target, step, passes, afterMs: random.between(0, 100) };
      }),
  );
}

function twoOfEverything(random: Random, scale: Scale): Action[] {
  const names = SERVICES.flatMap((name) => [name, `${name}-2`]);
  const begin = SERVICES.map((target) => one(random, 'second', { lane: 'begin', target, afterMs: 0 }));
  return [...begin, ...onServices(random, 'kill', some(12, scale), names)];
}

/** The whole schedule: nothing but the seed and how much there is to be goes into it. */
export function planScenarios(
  random: Random,
  scale: Scale,
  { cluster, only }: { readonly cluster: boolean; readonly only: readonly string[] | undefined },
): readonly PlannedScenario[] {
  const here = cluster ? 'cluster' : 'single';
  return SCENARIOS.filter(
    ({ name, on }) => (on === 'any' || on === here) && (only === undefined || only.includes(name)),
  ).map(({ name, setup, plan }) => ({ name, setup, actions: plan(random.fork(name), scale) }));
}
