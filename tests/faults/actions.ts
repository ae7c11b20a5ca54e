import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName, World } from '../support/world.js';
import type { Keeper } from './keeper.js';
import type { Action, Kind } from './plan.js';

/** Where a fault happens. */
export interface Stage {
  readonly world: World;
  readonly keeper: Keeper;
  readonly log: (line: string) => void;
}

/** True where the fault really happened. */
type Perform = (stage: Stage, action: Action) => Promise<boolean>;

const STEP_WITHIN_MS = 30_000;

const PERFORM: Readonly<Record<Kind, Perform>> = {
  kill: async ({ keeper }, { target }) => {
    await keeper.restart(target as ServiceName, 'SIGKILL');
    return true;
  },
  'kill-at': ({ keeper }, { target, step = '', passes = 0 }) =>
    keeper.endAt(target as ServiceName, { step, passes }, STEP_WITHIN_MS),
  restart: async ({ keeper }, { target }) => {
    await keeper.restart(target as ServiceName, 'SIGTERM');
    return true;
  },
  pause: async ({ keeper }, { target, forMs = 3_000 }) => {
    keeper.signal(target, 'SIGSTOP');
    await sleep(forMs);
    keeper.signal(target, 'SIGCONT');
    return true;
  },
};

export interface Done {
  readonly action: Action;
  readonly happened: boolean;
}

const TRIES = 3;

/** Every lane to its end. A step that was not come to is tried again at the end of its lane. */
export async function performAll(stage: Stage, actions: readonly Action[], until: () => boolean): Promise<Done[]> {
  const lanes = new Map<string, Action[]>();
  for (const action of actions) lanes.set(action.lane, [...(lanes.get(action.lane) ?? []), action]);
  const done = await Promise.all([...lanes.values()].map((lane) => performLane(stage, lane, until)));
  return done.flat();
}

async function performLane(stage: Stage, lane: readonly Action[], until: () => boolean): Promise<Done[]> {
  const done: Done[] = [];
  let todo = lane;
  for (let tries = 0; tries < TRIES && todo.length > 0 && !until(); tries += 1) {
    const missed: Action[] = [];
    for (const action of todo) {
      if (until()) break;
      await sleep(action.afterMs);
      const happened = await PERFORM[action.kind](stage, action);
      stage.log(`${action.lane}: ${action.kind} ${action.step ?? ''} ${happened ? '' : 'was not come to'}`);
      if (happened || tries === TRIES - 1) done.push({ action, happened });
      else missed.push(action);
    }
    todo = missed;
  }
  return done;
}
