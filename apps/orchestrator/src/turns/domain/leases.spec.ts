import { describe, it } from '@jest/globals';
import type { ContinuationCommand } from '#contracts/continuations/events';
import type { LeaseKey } from '#contracts/ids';
import type { FactReader } from '#fold/read';
import { extending, givingBack } from './hold-lease.js';
import { resuming } from './resume-turn.js';
import {
  AGAIN,
  allDecided,
  at,
  by,
  CALLS,
  decided,
  ended,
  given,
  givenBack,
  lapsed,
  published,
  requested,
  requestOf,
  resumed,
  revoked,
  succeeded,
  TURN,
  used,
  type Told,
} from './stories-for-spec.js';

/** The continuation was offered, or not yet. */
const commands = (offeredAt: number | undefined): FactReader<ContinuationCommand> => {
  const stored = offeredAt === undefined ? undefined : { storedAt: at(offeredAt) };
  return { last: () => Promise.resolve(stored as never), next: () => Promise.resolve(undefined) };
};
const each: Told = requested({ release: 'each' });
const held: Told = requested({ holder: { workerId: 'w-1', graceSeconds: 10 } });

const resume = (
  facts: readonly Told[],
  more: {
    key?: LeaseKey;
    workerId?: string;
    asHolder?: boolean;
    offered?: number | null;
    context?: ReturnType<typeof by>;
  } = {},
) => {
  const { key = TURN, workerId = 'w-1', asHolder = false, offered = 12, context = by(100) } = more;
  return given(...facts).when(
    (policies) => resuming(commands(offered ?? undefined), policies),
    { key, workerId, asHolder },
    context,
  );
};

describe('a turn is taken', () => {
  it('by the first who asks, as attempt 1, for the length of a lease', async () =>
    (await resume([requested(), ...allDecided])).thenRecorded('TurnResumed', {
      key: TURN,
      n: 1,
      attempt: 1,
      since: at(100),
      leaseUntil: at(160),
      workerId: 'w-1',
    }));
  it('again when the lease is over, as the next attempt', async () =>
    (await resume([requested(), ...allDecided, resumed()], { workerId: 'w-2' })).thenRecorded('TurnResumed', {
      n: 2,
      attempt: 2,
    }));
  it('at once when it was given back', async () =>
    (await resume([requested(), ...allDecided, resumed(), givenBack()], { context: by(40) })).thenRecorded(
      'TurnResumed',
      {
        n: 3,
        attempt: 2,
      },
    ));
  it('by its holder, before anything was offered', async () =>
    (await resume([held, ...allDecided], { asHolder: true, offered: null })).thenRecorded('TurnResumed', {
      attempt: 1,
    }));
  it('by its holder that pulled, within its grace', async () =>
    (await resume([held, ...allDecided], { context: by(13) })).thenRecorded('TurnResumed'));
  it('by the pool once the grace is over', async () =>
    (await resume([held, ...allDecided], { workerId: 'w-2', context: by(22) })).thenRecorded('TurnResumed'));
  it('with a call that has its outcome', async () =>
    (await resume([requested(), ...allDecided, resumed(), used(0), succeeded(0)])).thenRecorded('TurnResumed', {
      attempt: 2,
    }));
  it('call by call, each with attempts of its own', async () =>
    (await resume([each, decided(1)], { key: CALLS[1] })).thenRecorded('TurnResumed', {
      key: CALLS[1],
      n: 1,
      attempt: 1,
    }));
  it('whole, where each call was released, when each has its result', async () =>
    (
      await resume([each, decided(0, 'denied'), decided(1), used(1), succeeded(1), decided(2), revoked(2)])
    ).thenRecorded('TurnResumed', { key: TURN }));
});

describe('a turn is not taken', () => {
  it('where there is none', async () => (await resume([])).thenRefused('not-found'));
  it('under a key that is none', async () =>
    (await resume([requested()], { key: 'nonsense' as LeaseKey })).thenRefused('not-found'));
  it('by one of its calls, where it is released whole', async () =>
    (await resume([requested(), ...allDecided], { key: CALLS[0] })).thenRefused('not-found'));
  it('by a token of another agent', async () =>
    (await resume([requested(), ...allDecided], { context: by(100, { agent: 'other' }) })).thenRefused('forbidden'));
  it('by a token of another pool', async () =>
    (await resume([requested(), ...allDecided], { context: by(100, { pools: ['x'] }) })).thenRefused('forbidden'));
  it('by a person', async () =>
    (await resume([requested(), ...allDecided], { context: by(100, { roles: ['approver'] }) })).thenRefused(
      'forbidden',
    ));
  it('once it has ended', async () =>
    (await resume([requested(), ...allDecided, resumed(), ended()])).thenRefused('turn-ended'));
  it('before every call is decided', async () => (await resume([requested(), decided(0)])).thenRefused('not-ready'));
  it('while another has it, and not by who has it either', async () => {
    (await resume([requested(), ...allDecided, resumed()], { workerId: 'w-2', context: by(79) })).thenRefused('taken');
    (await resume([requested(), ...allDecided, resumed()], { context: by(79) })).thenRefused('taken');
  });
  it('while a call is in doubt', async () =>
    (await resume([requested(), ...allDecided, resumed(), used(0)])).thenRefused('in-doubt'));
  it('by the pool within the grace of its holder', async () => {
    (await resume([held, ...allDecided], { workerId: 'w-2', context: by(21.9) })).thenRefused('taken');
    (await resume([held, ...allDecided], { context: by(21.9, { tokenId: 'tk_other' as never }) })).thenRefused('taken');
  });
  it('by the pool before it was offered', async () =>
    (await resume([requested(), ...allDecided], { offered: null })).thenRefused('not-ready'));
  it('as holder by who is not', async () => {
    (await resume([requested(), ...allDecided], { asHolder: true })).thenRefused('forbidden');
    (await resume([held, ...allDecided], { asHolder: true, workerId: 'w-2' })).thenRefused('forbidden');
    (
      await resume([held, ...allDecided], { asHolder: true, context: by(100, { tokenId: 'tk_other' as never }) })
    ).thenRefused('forbidden');
  });
  it('whole, where each call was released, before each has its result', async () =>
    (await resume([each, decided(0, 'denied'), decided(1), decided(2, 'denied')])).thenRefused('not-ready'));
});

describe('what is in doubt and may run again', () => {
  const again = published([AGAIN]);
  const left = [requested(), ...allDecided, resumed(), used(0)];
  it('is taken when its lease is over, as the next attempt', async () =>
    (await resume([again, ...left], { workerId: 'w-2' })).thenRecorded('TurnResumed', { n: 2, attempt: 2 }));
  it('is not taken before', async () =>
    (await resume([again, ...left], { workerId: 'w-2', context: by(79) })).thenRefused('taken'));
  it('is taken at once when it was given back', async () =>
    (await resume([again, ...left, givenBack()], { context: by(40) })).thenRecorded('TurnResumed', { attempt: 2 }));
  it('is not taken once the turn has ended', async () =>
    (await resume([again, ...left, ended()])).thenRefused('turn-ended'));
  it('is not taken with a sibling that must not run twice', async () => {
    const only = published([{ ...AGAIN, when: 'args.n == 0' }]);
    const toolCalls = requestOf().toolCalls.map((call, n) => ({ ...call, args: { n } }));
    const two = [only, requested({ toolCalls }), ...allDecided, resumed(), used(0)];
    (await resume(two)).thenRecorded('TurnResumed', { attempt: 2 });
    (await resume([...two, used(1)])).thenRefused('in-doubt');
  });
  it('is taken call by call, and its sibling that must not run twice is not', async () => {
    const only = published([{ ...AGAIN, when: 'args.n == 0' }]);
    const toolCalls = requestOf().toolCalls.map((call, n) => ({ ...call, args: { n } }));
    const runs = (n: 0 | 1) => [decided(n), resumed(CALLS[n]), used(n)];
    const two = [only, requested({ release: 'each', toolCalls }), ...runs(0), ...runs(1)];
    (await resume(two, { key: CALLS[0] })).thenRecorded('TurnResumed', { key: CALLS[0], attempt: 2 });
    (await resume(two, { key: CALLS[1] })).thenRefused('in-doubt');
  });
  it('is not taken by a version that was published after the request', async () =>
    (await resume([...left.slice(0, 1), again, ...left.slice(1)])).thenRefused('in-doubt'));
  it('is taken though a later version no longer says so', async () =>
    (await resume([again, ...left, published([], 2)])).thenRecorded('TurnResumed', { attempt: 2 }));
  it('is not taken on the word of the agent', async () => {
    const annotations = { idempotentHint: true, readOnlyHint: true };
    const toolCalls = requestOf().toolCalls.map((call) => ({ ...call, annotations }));
    (await resume([published([]), requested({ toolCalls }), ...left.slice(1)])).thenRefused('in-doubt');
  });
});

describe('a call is not taken', () => {
  it('before it is approved', async () => (await resume([each], { key: CALLS[0] })).thenRefused('not-ready'));
  it('after it was denied', async () =>
    (await resume([each, decided(0, 'denied')], { key: CALLS[0] })).thenRefused('not-ready'));
  it('after it was taken back', async () =>
    (await resume([each, decided(0), revoked(0)], { key: CALLS[0] })).thenRefused('revoked'));
  it('after it lapsed', async () =>
    (await resume([each, decided(0), lapsed(0)], { key: CALLS[0] })).thenRefused('lapsed'));
  it('once it has its outcome', async () =>
    (await resume([each, decided(0), resumed(CALLS[0]), used(0), succeeded(0)], { key: CALLS[0] })).thenRefused(
      'not-ready',
    ));
  it('beyond the calls of the turn', async () =>
    (await resume([each], { key: `${CALLS[0].slice(0, -1)}9` as LeaseKey })).thenRefused('not-found'));
});

const taken = [requested(), ...allDecided, resumed()];
const hold = (
  rule: typeof extending,
  facts: readonly Told[],
  { attempt = 1, workerId = 'w-1', context = by(50) } = {},
) => given(...facts).when(rule, { key: TURN, workerId, attempt }, context);

describe('a lease is extended', () => {
  it('by as long as the attempt has run, at least a lease', async () =>
    (await hold(extending, taken, { context: by(50) })).thenRecorded('LeaseExtended', {
      n: 2,
      attempt: 1,
      since: at(20),
      leaseUntil: at(110),
    }));
  it('for longer the longer it runs', async () =>
    (await hold(extending, taken, { context: by(320) })).thenRecorded('LeaseExtended', { leaseUntil: at(620) }));
  it('by fifteen minutes at most', async () =>
    (await hold(extending, taken, { context: by(20_000) })).thenRecorded('LeaseExtended', { leaseUntil: at(20_900) }));
  it('never to an earlier end', async () =>
    (await hold(extending, [requested(), ...allDecided, resumed(TURN, 1, 1, { leaseUntil: at(800) })])).thenRecorded(
      'LeaseExtended',
      { leaseUntil: at(800) },
    ));
  it('after it ran out, while nobody else took over', async () =>
    (await hold(extending, taken, { context: by(90) })).thenRecorded('LeaseExtended', { attempt: 1 }));
});

describe.each([
  ['extended', extending],
  ['given back', givingBack as typeof extending],
])('a lease is not %s', (_, rule) => {
  it('where nothing was taken', async () =>
    (await hold(rule, [requested(), ...allDecided])).thenRefused('stale-attempt'));
  it('where there is no turn', async () => (await hold(rule, [])).thenRefused('not-found'));
  it('by an older attempt', async () =>
    (await hold(rule, [...taken, resumed(TURN, 2, 2)])).thenRefused('stale-attempt'));
  it('by another worker', async () => (await hold(rule, taken, { workerId: 'w-2' })).thenRefused('stale-attempt'));
  it('by another token', async () =>
    (await hold(rule, taken, { context: by(50, { tokenId: 'tk_other' as never }) })).thenRefused('stale-attempt'));
  it('for another agent', async () =>
    (await hold(rule, taken, { context: by(50, { agent: 'other' }) })).thenRefused('forbidden'));
  it('once the turn has ended', async () => (await hold(rule, [...taken, ended()])).thenRefused('turn-ended'));
});

describe('a lease that was given back', () => {
  it('is one fact more in its story', async () =>
    (await hold(givingBack, taken)).thenRecorded('LeaseGivenBack', { n: 2, attempt: 1 }));
  it('is not given back twice', async () => (await hold(givingBack, [...taken, givenBack()])).thenNothing());
  it('is not extended any more', async () =>
    (await hold(extending, [...taken, givenBack()])).thenRefused('stale-attempt'));
});
