import { describe, expect, it } from '@jest/globals';
import type { HoldpointEvent } from '#contracts/events';
import { readWholeTurn } from '#fold/read';
import { judgedTurn } from '#policy/run-again';
import { judgeOffer, mayTake, type Judgement, type OfferQuestion } from './judge-offer.js';
import {
  AGAIN,
  at,
  call,
  decided,
  ended,
  givenBack,
  lapsed,
  logOf,
  OTHER_TOKEN,
  published,
  requested,
  resumed,
  revoked,
  started,
  succeeded,
  TENANT,
  TOKEN,
  TURN_KEY,
  worker,
} from './stories-for-spec.js';
import { continuationOfCall, continuationOfTurn } from './when-approval-closed-then-continue-conversation.js';

interface Asking {
  readonly of?: 'turn' | number;
  readonly now?: number;
  readonly caller?: OfferQuestion['caller'];
}

const judged =
  (...events: readonly HoldpointEvent[]) =>
  async ({ of = 'turn', now = 1, caller }: Asking = {}): Promise<Judgement> => {
    const log = await logOf(...events);
    const whole = await judgedTurn(log.policies, TENANT, await readWholeTurn(log.events, TENANT, TURN_KEY));
    if (!whole) throw new Error('The story begins with a request');
    const { request } = whole.turn;
    const command = of === 'turn' ? continuationOfTurn(request) : continuationOfCall(request, call(of));
    return judgeOffer({ ...whole, command, storedAt: at(0), now: at(now), ...(caller ? { caller } : {}) });
  };

const whole = requested();
const each = requested({ release: 'each', calls: 2 });
const OFFER = { is: 'offer' };
const OVER = { is: 'over' };
const LATER = { is: 'later', ms: 5_000 };

describe('a continuation of a turn', () => {
  it('is offered when every call is decided', async () => expect(await judged(whole, decided(0))()).toEqual(OFFER));
  it('is not offered before', async () => expect(await judged(whole)()).toEqual({ is: 'not-yet' }));
  it('is over when the turn has ended', async () => expect(await judged(whole, decided(0), ended())()).toEqual(OVER));
  it('waits for the end of a living lease', async () =>
    expect(await judged(whole, decided(0), resumed({ until: 60 }))({ now: 20 })).toEqual({ is: 'later', ms: 40_000 }));
  it('is offered again when its lease is over', async () =>
    expect(await judged(whole, decided(0), resumed({ until: 60 }))({ now: 60 })).toEqual(OFFER));
  it('is offered at once when it was given back', async () =>
    expect(await judged(whole, decided(0), resumed(), givenBack({ n: 2 }))()).toEqual(OFFER));
  it('waits while a call is in doubt', async () =>
    expect(await judged(whole, decided(0), resumed({ until: 60 }), started(0))({ now: 61 })).toEqual({
      is: 'later',
      ms: 5_000,
    }));
  it('is offered again when the doubt is settled', async () =>
    expect(await judged(whole, decided(0), resumed({ until: 60 }), started(0), succeeded(0))({ now: 61 })).toEqual(
      OFFER,
    ));
  it('of calls released each waits until all have their results', async () =>
    expect(await judged(each, decided(0), decided(1, 'denied'))()).toEqual({ is: 'not-yet' }));
});

describe('a continuation of one call', () => {
  it('is offered while its siblings are undecided', async () =>
    expect(await judged(each, decided(1))({ of: 1 })).toEqual(OFFER));
  it.each([
    ['has an outcome', [started(1), succeeded(1)]],
    ['is revoked', [revoked(1)]],
    ['has lapsed', [lapsed(1)]],
  ] as const)('is over when it %s', async (_, facts) =>
    expect(await judged(each, decided(1), ...facts)({ of: 1 })).toEqual(OVER),
  );
  it('goes by its own lease, not by that of a sibling', async () => {
    const story = judged(each, decided(0), decided(1), resumed({ key: call(0) }));
    expect([await story({ of: 0 }), await story({ of: 1 })]).toEqual([{ is: 'later', ms: 59_000 }, OFFER]);
  });
  it('waits while it is in doubt, and its sibling does not', async () => {
    const story = judged(each, decided(0), decided(1), resumed({ key: call(0) }), started(0));
    expect([await story({ of: 0, now: 90 }), await story({ of: 1, now: 90 })]).toEqual([
      { is: 'later', ms: 5_000 },
      OFFER,
    ]);
  });
});

describe('a turn with a holder', () => {
  const held = requested({ holder: { workerId: 'w-1', graceSeconds: 10 } });
  const holder = { workerId: 'w-1', tokenId: TOKEN };
  const HOLDER_ONLY = { is: 'holder-only', untilMs: Date.parse(at(10)) };
  it.each([
    ['nobody in particular', undefined],
    ['another worker', { workerId: 'w-2', tokenId: TOKEN }],
    ['the same name under another token', { workerId: 'w-1', tokenId: OTHER_TOKEN }],
  ])('is not offered within its time to %s', async (_, caller) =>
    expect(await judged(held, decided(0))({ now: 9, ...(caller ? { caller } : {}) })).toEqual(HOLDER_ONLY),
  );
  it('is offered to its holder', async () =>
    expect(await judged(held, decided(0))({ now: 9, caller: holder })).toEqual(OFFER));
  it('is offered to anybody after its time', async () =>
    expect(await judged(held, decided(0))({ now: 10 })).toEqual(OFFER));
  it('is offered to anybody once its holder gave it back', async () =>
    expect(await judged(held, decided(0), resumed(), givenBack({ n: 2 }))()).toEqual(OFFER));
});

describe('what is in doubt and may run again', () => {
  const again = published([AGAIN]);
  const left = [decided(0), resumed({ until: 60 }), started(0)];
  it('is offered when its lease is over', async () =>
    expect(await judged(again, whole, ...left)({ now: 60 })).toEqual(OFFER));
  it('is not offered before', async () =>
    expect(await judged(again, whole, ...left)({ now: 59 })).toEqual({ is: 'later', ms: 1_000 }));
  it('is offered at once when it was given back', async () =>
    expect(await judged(again, whole, ...left, givenBack({ n: 2 }))()).toEqual(OFFER));
  it('is over when the turn has ended', async () =>
    expect(await judged(again, whole, ...left, ended())({ now: 60 })).toEqual(OVER));
  it('waits where a sibling must not run twice', async () => {
    const only = published([{ ...AGAIN, when: 'args.to == 0' }]);
    const two = [requested({ calls: 2 }), decided(0), decided(1), resumed({ until: 60 }), started(0)];
    expect(await judged(only, ...two)({ now: 60 })).toEqual(OFFER);
    expect(await judged(only, ...two, started(1))({ now: 60 })).toEqual(LATER);
  });
  it('is offered by itself, where each call is released, and its sibling is not', async () => {
    const only = published([{ ...AGAIN, when: 'args.to == 0' }]);
    const runs = (index: number) => [decided(index), resumed({ key: call(index), until: 60 }), started(index)];
    const story = judged(only, each, ...runs(0), ...runs(1));
    expect([await story({ of: 0, now: 60 }), await story({ of: 1, now: 60 })]).toEqual([OFFER, LATER]);
  });
  it('waits where the policy came after the request', async () =>
    expect(await judged(whole, again, ...left)({ now: 60 })).toEqual(LATER));
  it('is offered though a later version no longer says so', async () =>
    expect(await judged(again, whole, published([], 2), ...left)({ now: 60 })).toEqual(OFFER));
});

describe('a token', () => {
  const reaches = async (more: Parameters<typeof worker>[0]): Promise<boolean> => {
    const turn = await readWholeTurn((await logOf(whole, decided(0))).events, TENANT, TURN_KEY);
    return turn !== undefined && mayTake(worker(more), turn.turn, continuationOfTurn(turn.turn.request));
  };
  it('that names nothing takes anything', async () => expect(await reaches({})).toBe(true));
  it('of another agent takes nothing', async () => expect(await reaches({ agent: 'other' })).toBe(false));
  it('of another pool takes nothing', async () => expect(await reaches({ pools: ['other'] })).toBe(false));
  it('of another server takes nothing', async () => expect(await reaches({ servers: ['bank'] })).toBe(false));
  it('of its agent, pool and server takes it', async () =>
    expect(await reaches({ agent: 'billing-agent', pools: ['default'], servers: ['gmail'] })).toBe(true));
  it('without the role agent takes nothing', async () => expect(await reaches({ roles: ['approver'] })).toBe(false));
});
