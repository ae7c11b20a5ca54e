import type { Random } from '../random.js';
import { GRANTED, ORDINARY } from './tools.js';

/** What is to become of one call. One that is to `wait` is left to what was said before; later somebody approves it. */
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
  | 'remember'
  | 'wait'
  | 'nobody';

export interface CallPlan {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly fate: Fate;
  readonly afterMs: number;
}

/** What is to become of a turn. Nobody decides the first call of one that is to expire or to be superseded. */
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

type Fates = Readonly<Record<Exclude<Fate, 'nobody'>, number>>;
const FATES: Fates = {
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
  remember: 3,
  wait: 5,
};
type Plots = Readonly<Record<Plot, number>>;
const PLOTS: Plots = { run: 14, expire: 3, 'cancel-early': 2, 'cancel-late': 2, supersede: 2 };

/** What is to come oftener than it would by itself. */
export interface Focus {
  readonly plots?: Partial<Plots>;
  readonly fates?: Partial<Fates>;
}

export function drawStory(random: Random, { plots, fates }: Focus = {}): Story {
  const plot = random.weighed({ ...PLOTS, ...plots });
  const release = random.chance(0.4) ? 'each' : 'all';
  const calls = Array.from({ length: random.pick([1, 1, 1, 2, 2, 3]) }, (_, index) =>
    drawCall(random, { plot, index, fates }),
  );
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

interface CallToDraw {
  readonly plot: Plot;
  readonly index: number;
  readonly fates: Focus['fates'];
}

function drawCall(random: Random, { plot, index, fates }: CallToDraw): CallPlan {
  const isLeft = (plot === 'expire' || plot === 'supersede') && index === 0;
  const fate = isLeft ? 'nobody' : random.weighed({ ...FATES, ...fates });
  const isForGrants = fate === 'remember' || fate === 'wait';
  // What is denied is denied in many conversations, with the same arguments.
  const people = fate === 'deny' ? 2 : 999;
  return {
    toolCallId: `call_${index}`,
    toolName: random.pick<string>(isForGrants ? GRANTED : ORDINARY),
    args: {
      to: `x${random.between(1, people)}@example.com`,
      amount: fate === 'deny' ? 1 : random.between(1, 9_999) / 4,
      note: 'größer \u2028 ok',
    },
    fate,
    afterMs: random.between(0, 400),
  };
}
