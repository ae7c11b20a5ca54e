import { NAMED_STEPS } from '../support/steps.js';
import { SERVICES } from '../support/world.js';
import type { Random } from './random.js';

/** What the faults of a world that goes on living are called. */
export type Kind = 'kill' | 'kill-at' | 'restart' | 'pause';

/** One fault of the schedule. Lanes go on side by side, the faults of one lane one after the other. */
export interface Action {
  readonly lane: string;
  readonly kind: Kind;
  readonly target: string;
  readonly step?: string;
  /** How often the step is let pass first. */
  readonly passes?: number;
  readonly afterMs: number;
  readonly forMs?: number;
}

export interface PlannedScenario {
  readonly name: string;
  readonly actions: readonly Action[];
}

export interface Scale {
  readonly kills: number;
  /** How often each named step. */
  readonly rounds: number;
}

export const planRandomKills = (random: Random, count: number): Action[] =>
  Array.from({ length: count }, () => {
    const target = random.pick(SERVICES);
    return { lane: target, kind: 'kill', target, afterMs: random.between(800, 4_000) };
  });

/** Steps that every turn comes to several times are let pass more often. */
export function planNamedSteps(random: Random, rounds: number): Action[] {
  const steps = [...NAMED_STEPS].map(([target, step]) => ({ target, step }));
  return Array.from({ length: rounds }, () => random.shuffled(steps)).flatMap((round) =>
    round.map(({ target, step }): Action => {
      const often = !/Revoked|cancel|Ended/.test(step);
      return {
        lane: target,
        kind: 'kill-at',
        target,
        step,
        passes: random.between(0, often ? 6 : 1),
        afterMs: random.between(0, 100),
      };
    }),
  );
}
