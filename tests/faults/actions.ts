import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '#tools/test-servers';
import { freePort, type ServiceName } from '../support/world.js';
import type { Keeper } from './keeper.js';
import { restoreOlder } from './older-backup.js';
import { leaderOf, type Place } from './places.js';
import type { Action, Kind } from './plan.js';
import type { Passage } from './proxy.js';

/** Where a fault happens. */
export interface Stage {
  readonly place: Place;
  readonly keeper: Keeper;
  readonly log: (line: string) => void;
  /** Where clients ask; a second gateway is another. */
  readonly urls: string[];
}

/** True where the fault really happened. */
type Perform = (stage: Stage, action: Action) => Promise<boolean>;

const STEP_WITHIN_MS = 60_000;
const SKEWED = join(ROOT, 'tests/faults/clock-skew.mjs');

const done = async (...works: Promise<unknown>[]): Promise<true> => {
  await Promise.all(works);
  return true;
};
const serversOf = ({ place }: Stage) => place.world.servers;
const lasting = ({ forMs = 3_000 }: Action) => sleep(forMs);

const PERFORM: Readonly<Record<Kind, Perform>> = {
  kill: ({ keeper }, { target }) => done(keeper.restart(target, 'SIGKILL')),
  'kill-at': ({ keeper }, { target, step = '', passes = 0 }) =>
    keeper.endAt(target as ServiceName, { step, passes }, STEP_WITHIN_MS),
  restart: ({ keeper }, { target }) => done(keeper.restart(target, 'SIGTERM')),
  pause: async ({ keeper }, action) => {
    keeper.signal(action.target, 'SIGSTOP');
    await lasting(action);
    keeper.signal(action.target, 'SIGCONT');
    return true;
  },
  skew: async ({ keeper }, action) => {
    const env = { NODE_OPTIONS: `--import=${SKEWED}`, SKEW_MS: action.step ?? '0' };
    const name = action.target as ServiceName;
    await keeper.end(name, 'SIGTERM');
    keeper.start(name, { env });
    await lasting(action);
    await keeper.end(name, 'SIGTERM');
    keeper.start(name);
    return true;
  },
  second: async ({ keeper, urls }, { target }) => {
    const port = await freePort();
    const env: Record<string, string> =
      target === 'gateway' ? { HOLDPOINT_PORT: String(port), HOLDPOINT_METRICS_PORT: String(await freePort()) } : {};
    keeper.start(target as ServiceName, { instance: '-2', env });
    if (target === 'gateway') urls.push(`http://127.0.0.1:${port}`);
    return true;
  },

  'broker-kill': async (stage, action) => {
    await serversOf(stage).nats.kill();
    await lasting(action);
    return done(serversOf(stage).nats.restart());
  },
  'broker-restart': (stage) => done(serversOf(stage).nats.restart()),
  'broker-pause': async (stage, action) => {
    serversOf(stage).nats.pause();
    await lasting(action);
    serversOf(stage).nats.resume();
    return true;
  },
  'leader-kill': async (stage, action) => {
    const leader = await leading(stage);
    await leader.kill();
    await lasting(action);
    return done(leader.restart());
  },
  'leader-pause': async (stage, action) => {
    const leader = await leading(stage);
    leader.pause();
    await lasting(action);
    leader.resume();
    return true;
  },
  'rolling-restart': async (stage) => {
    for (const server of serversOf(stage).clusterNats) {
      await server.restart();
      await sleep(3_000);
    }
    return true;
  },
  'quorum-loss': async (stage, action) => {
    const leader = await leaderOf(stage.place.world);
    const two = serversOf(stage).clusterNats.filter((_, index) => index !== (leader + 1) % 3);
    await Promise.all(two.map((server) => server.kill()));
    await lasting(action);
    return done(...two.map((server) => server.restart()));
  },
  partition: async (stage, action) => {
    const leader = await leaderOf(stage.place.world);
    stage.place.isolate(leader, action.step === 'hole' ? 'hole' : 'cut');
    await lasting(action);
    stage.place.isolate(leader, 'open');
    return true;
  },
  link: async ({ place }, action) => {
    place.link(action.target, passageOf(action.step));
    await lasting(action);
    place.link(action.target, 'open');
    return true;
  },

  'postgres-restart': (stage) => done(serversOf(stage).postgres.restart()),
  'postgres-kill': (stage) => {
    process.kill(serversOf(stage).postgres.pid(), 'SIGKILL');
    return done(serversOf(stage).postgres.restart());
  },
  'postgres-outage': async (stage, action) => {
    await serversOf(stage).postgres.kill();
    await lasting(action);
    return done(serversOf(stage).postgres.restart());
  },
  'postgres-older': (stage, { forMs = 3_000 }) => done(restoreOlder(serversOf(stage).databaseUrl, forMs)),
};

async function leading(stage: Stage) {
  const leader = serversOf(stage).clusterNats[await leaderOf(stage.place.world)];
  if (!leader) throw new Error('There is no cluster');
  return leader;
}

const passageOf = (step: string | undefined): Passage => (step === 'cut' || step === 'hole' ? step : Number(step));

export interface Done {
  readonly action: Action;
  readonly happened: boolean;
}

const TRIES = 3;

/** Every lane to its end. A step that was not come to is tried again at the end of its lane. */
export async function performAll(stage: Stage, actions: readonly Action[]): Promise<Done[]> {
  const lanes = new Map<string, Action[]>();
  for (const action of actions) lanes.set(action.lane, [...(lanes.get(action.lane) ?? []), action]);
  const begin = await performLane(stage, lanes.get('begin') ?? []);
  lanes.delete('begin');
  const done = await Promise.all([...lanes.values()].map((lane) => performLane(stage, lane)));
  return [...begin, ...done.flat()];
}

async function performLane(stage: Stage, lane: readonly Action[]): Promise<Done[]> {
  const done: Done[] = [];
  let todo = lane;
  for (let tries = 0; tries < TRIES && todo.length > 0; tries += 1) {
    const missed: Action[] = [];
    for (const action of todo) {
      await sleep(action.afterMs);
      const happened = await PERFORM[action.kind](stage, action);
      stage.log(`  ${labelOf(action)}${happened ? '' : ': was not come to'}`);
      if (happened || tries === TRIES - 1) done.push({ action, happened });
      else missed.push(action);
    }
    todo = missed;
  }
  return done;
}

export const labelOf = ({ kind, target, step, passes, forMs }: Action): string =>
  [kind, target, step, passes === undefined ? '' : `+${passes}`, forMs === undefined ? '' : `${forMs} ms`]
    .filter(Boolean)
    .join(' ');
