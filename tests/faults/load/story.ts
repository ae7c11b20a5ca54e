import type { Random } from '../random.js';

/** What is to become of one call. */
export type Fate =
  | 'approve'
  | 'edit'
  | 'deny'
  | 'respond'
  | 'cancel'
  | 'race'
  | 'revoke'
  | 'own'
  | 'other-arguments'
  | 'bulk'
  | 'nobody';

export interface CallPlan {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly fate: Fate;
  readonly afterMs: number;
}

/** What is to become of a turn. `expire`: its calls have little time, and nobody decides one of them at least. */
export type Plot = 'run' | 'expire' | 'cancel-early' | 'cancel-late' | 'supersede';

export interface Story {
  readonly plot: Plot;
  readonly release: 'all' | 'each';
  readonly pool: string;
  readonly calls: readonly CallPlan[];
  readonly expiresInSeconds?: number;
  /** The worker that opened it takes it itself, once it is ready. */
  readonly holder: boolean;
  /** The same request twice at once, or again later, with and without the same key. */
  readonly sent: 'once' | 'twice' | 'again';
}

export const POOLS = ['default', 'side'] as const;

const FATES: Readonly<Record<Exclude<Fate, 'nobody'>, number>> = {
  approve: 10,
  edit: 3,
  deny: 2,
  respond: 1,
  cancel: 1,
  race: 4,
  revoke: 3,
  own: 1,
  'other-arguments': 1,
  bulk: 1,
};
const PLOTS: Readonly<Record<Plot, number>> = { run: 14, expire: 3, 'cancel-early': 2, 'cancel-late': 2, supersede: 2 };

export function drawStory(random: Random): Story {
  const plot = random.weighed(PLOTS);
  const release = random.chance(0.4) ? 'each' : 'all';
  const calls = Array.from({ length: random.pick([1, 1, 1, 2, 2, 3]) }, (_, index) => drawCall(random, plot, index));
  return {
    plot,
    release,
    pool: random.pick(POOLS),
    calls,
    ...(plot === 'expire' ? { expiresInSeconds: random.between(1, 2) } : {}),
    holder: plot === 'run' && release === 'all' && random.chance(0.15),
    sent: random.weighed({ once: 6, twice: 2, again: 2 }),
  };
}

function drawCall(random: Random, plot: Plot, index: number): CallPlan {
  const fate = plot === 'expire' && index === 0 ? 'nobody' : random.weighed(FATES);
  return {
    toolCallId: `call_${index}`,
    toolName: random.pick(['send_email', 'pay', 'delete_branch']),
    args: {
      to: `x${random.between(1, 999)}@example.com`,
      amount: random.between(1, 9_999) / 4,
      note: 'größer \u2028 ok',
    },
    fate,
    afterMs: random.between(0, 400),
  };
}
