import { afterEach, describe, expect, it } from '@jest/globals';
import { JetStreamApiError } from '@nats-io/jetstream';
import type { ContinuationCommand } from '#contracts/continuations/events';
import type { HoldpointEvent } from '#contracts/events';
import type { Caller } from '#contracts/roles';
import type { Delivery } from '#event-log/log';
import { readWholeTurn } from '#fold/read';
import type { Pull } from '#service/broker';
import { offerAgain } from './offer-again.js';
import { offerDue } from './offer-due.js';
import { Offers } from './offers.js';
import { publishCommand } from './publish-command.js';
import {
  AGAIN,
  at,
  call,
  decided,
  ended,
  factOf,
  givenBack,
  logOf,
  published,
  requested,
  resumed,
  START,
  started,
  succeeded,
  TENANT,
  TURN_KEY,
  worker,
} from './stories-for-spec.js';
import { continuationOfTurn, continuationsDue } from './when-approval-closed-then-continue-conversation.js';

type Answer = 'ack' | number;
const stops: AbortController[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop.abort()));

/** A pool's subscription in memory: what it was answered is kept; a command comes once, and again when told so in time. */
class Pool {
  readonly answers: Answer[] = [];
  readonly due: (() => Delivery<ContinuationCommand>)[] = [];
  isMissing = false;

  add(deliveryOf: (answered: (answer: Answer) => void) => Delivery<ContinuationCommand>): void {
    const answered = (answer: Answer) => {
      this.answers.push(answer);
      if (answer !== 'ack' && answer <= 300) setTimeout(() => this.add(deliveryOf), answer);
    };
    this.due.push(() => deliveryOf(answered));
  }

  async *pull(_durable: string, { max, signal }: Pull): AsyncIterable<Delivery<ContinuationCommand>> {
    if (this.isMissing) throw new JetStreamApiError({ code: 404, err_code: 10014, description: 'consumer not found' });
    for (let waited = 0, left = max; left > 0 && waited < 100 && !signal.aborted; waited += 5) {
      const next = this.due.shift();
      if (next) left -= 1;
      if (next) yield next();
      else await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

async function world(...story: readonly HoldpointEvent[]) {
  const log = await logOf(...story);
  const pool = new Pool();
  const stop = new AbortController();
  stops.push(stop);
  let now = START + 1_000;
  const failures: unknown[] = [];
  const services = {
    events: log.events,
    policies: log.policies,
    commands: log.commands,
    clock: () => now,
    heardOf: () => undefined,
    pullPool: (durable: string, pull: Pull) => pool.pull(durable, pull),
    report: (error: unknown) => void failures.push(error),
    stopping: stop.signal,
  };
  const offers = new Offers(services);
  const whole = async () => {
    const turn = await readWholeTurn(log.events, TENANT, TURN_KEY);
    if (!turn) throw new Error('The story begins with a request');
    return turn;
  };
  return { ...services, offers, pool, failures, whole, setNow: (seconds: number) => (now = Date.parse(at(seconds))) };
}
type World = Awaited<ReturnType<typeof world>>;

/** Puts the turn's commands where the broker would have them. */
async function deliver({ commands, clock, pool, whole }: World): Promise<void> {
  for (const command of [...continuationsDue(await whole()), continuationOfTurn((await whole()).turn.request)]) {
    await publishCommand({ commands, clock }, { tenant: TENANT, command, causationId: 'test' });
  }
  const { lastSeq } = await commands.state();
  for (let seq = 1; seq <= lastSeq; seq += 1) {
    const fact = await commands.next('hp.cmd.>', seq);
    if (!fact) continue;
    const stored = { ...fact, storedAt: at(0) };
    let deliveries = 0;
    pool.add((answered) => ({
      raw: { seq, subject: fact.subject, headers: {}, data: new Uint8Array(), storedAt: at(0) },
      read: () => stored,
      deliveries: (deliveries += 1),
      working: () => undefined,
      ack: () => answered('ack'),
      again: (ms) => answered(ms),
    }));
  }
}

interface Pulling {
  readonly caller?: Caller;
  readonly workerId?: string;
  readonly waitSeconds?: number;
  readonly max?: number;
  readonly signal?: AbortSignal;
  readonly preparePool?: () => Promise<void>;
}
const pull = ({ offers }: World, more: Pulling = {}) =>
  offers.pull({
    caller: worker(),
    pool: 'default',
    workerId: 'w-1',
    waitSeconds: 2,
    signal: new AbortController().signal,
    preparePool: () => Promise.resolve(),
    ...more,
  });
const ids = async (pulled: Promise<{ items: readonly { leaseId: string }[] }>) =>
  (await pulled).items.map(({ leaseId }) => leaseId);

describe('a pull', () => {
  it('is offered what is ready, of which the broker is told nothing: it gives it again after its own time', async () => {
    const at1 = await world(requested(), decided(0));
    await deliver(at1);
    expect(await ids(pull(at1))).toEqual([TURN_KEY]);
    expect(at1.pool.answers).toEqual([]);
  });

  it('ends empty when its time is over', async () => {
    const nothing = await world(requested());
    expect(await ids(pull(nothing, { waitSeconds: 0 }))).toEqual([]);
  });

  it('is offered what is in doubt and may run again, and not what may not', async () => {
    const left = [requested(), decided(0), resumed({ until: 1 }), started(0)];
    const [again, once] = [await world(published([AGAIN]), ...left), await world(...left)];
    for (const each of [again, once]) await deliver(each);
    expect([await ids(pull(again)), await ids(pull(once, { waitSeconds: 0 }))]).toEqual([[TURN_KEY], []]);
    expect(once.pool.answers).toEqual([5_000]);
  });

  it('acknowledges what is over and is not offered it', async () => {
    const over = await world(requested(), decided(0), ended());
    await deliver(over);
    expect(await ids(pull(over, { waitSeconds: 0 }))).toEqual([]);
    expect(over.pool.answers).toEqual(['ack']);
  });

  it('hands back until its lease ends what another has', async () => {
    const taken = await world(requested(), decided(0), resumed({ until: 61 }));
    await deliver(taken);
    expect(await ids(pull(taken, { waitSeconds: 0 }))).toEqual([]);
    expect(taken.pool.answers).toEqual([60_000]);
  });

  it('in a pool that its token may not use is refused', async () => {
    const pools = await world(requested());
    await expect(pull(pools, { caller: worker({ pools: ['other'] }) })).rejects.toMatchObject({
      refusal: { reason: 'forbidden' },
    });
  });

  it('of another agent leaves it to a worker whose agent it is', async () => {
    const two = await world(requested(), decided(0));
    const stranger = ids(pull(two, { caller: worker({ agent: 'other' }), waitSeconds: 1 }));
    await deliver(two);
    expect(await ids(pull(two, { caller: worker({ agent: 'billing-agent' }) }))).toEqual([TURN_KEY]);
    expect(await stranger).toEqual([]);
  });

  it('has the pool made where it is missing', async () => {
    const missing = await world(requested(), decided(0));
    await deliver(missing);
    missing.pool.isMissing = true;
    const preparePool = () => Promise.resolve(void (missing.pool.isMissing = false));
    expect(await ids(pull(missing, { preparePool }))).toEqual([TURN_KEY]);
    expect(missing.failures).toEqual([]);
  });

  it('whose client has gone leaves what it was given to the next', async () => {
    const gone = await world(requested(), decided(0));
    const client = new AbortController();
    const first = pull(gone, { signal: client.signal, max: 2 });
    await deliver(gone);
    while (gone.pool.due.length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    client.abort();
    await first;
    expect(await ids(pull(gone))).toEqual([TURN_KEY]);
  });

  it('ends when the gateway stops', async () => {
    const stopping = await world(requested());
    const waiting = ids(pull(stopping, { waitSeconds: 60 }));
    stops.splice(0).forEach((stop) => stop.abort());
    expect(await waiting).toEqual([]);
  });
});

describe('a turn with a holder', () => {
  const held = requested({ holder: { workerId: 'w-1', graceSeconds: 10 } });

  it('goes to its holder though others have waited longer', async () => {
    const both = await world(held, decided(0));
    const other = ids(pull(both, { workerId: 'w-2', waitSeconds: 1 }));
    const holder = ids(pull(both, { workerId: 'w-1' }));
    await deliver(both);
    expect([await holder, await other]).toEqual([[TURN_KEY], []]);
  });

  it('comes back soon while its holder is not here, and goes to anybody after its time', async () => {
    const alone = await world(held, decided(0));
    await deliver(alone);
    const other = ids(pull(alone, { workerId: 'w-2' }));
    while (alone.pool.answers.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(alone.pool.answers).toEqual([250]);
    alone.setNow(10);
    expect(await other).toEqual([TURN_KEY]);
  });
});

describe('what was let go is offered without the broker', () => {
  it('when it was given back', async () => {
    const given = await world(requested(), decided(0), resumed(), givenBack({ n: 2 }));
    const waiting = ids(pull(given));
    const fact = await given.events.last(factOf(givenBack({ n: 2 })).subject);
    if (fact) await offerAgain(given.events, given.offers, fact);
    expect(await waiting).toEqual([TURN_KEY]);
  });

  it('when a doubt was settled', async () => {
    const settled = await world(requested(), decided(0), resumed({ until: 0 }), started(0), succeeded(0, 'it arrived'));
    const fact = await settled.events.last(factOf(succeeded(0)).subject);
    if (fact) await offerAgain(settled.events, settled.offers, fact);
    expect(await ids(pull(settled))).toEqual([TURN_KEY]);
  });

  it('but not when it has been taken since', async () => {
    const taken = await world(requested(), decided(0), resumed());
    taken.offers.offerAgain(TENANT, {
      command: continuationOfTurn((await taken.whole()).turn.request),
      storedAt: at(0),
    });
    expect(await ids(pull(taken, { waitSeconds: 0 }))).toEqual([]);
  });
});

describe('a turn found decided and not resumed', () => {
  const due = async (found: World, patienceMs: number) =>
    offerDue(found, { ...(await found.whole()), tenant: TENANT, foundBy: 'reconciler', patienceMs });

  it('gets the continuation it lacks, once', async () => {
    const lacking = await world(requested(), decided(0));
    expect([await due(lacking, 15_000), await due(lacking, 1e12)]).toEqual([1, 0]);
    expect(await lacking.commands.state()).toMatchObject({ lastSeq: 1 });
  });

  it('is offered from here where the broker has offered it to nobody for long', async () => {
    const lying = await world(requested(), decided(0));
    await due(lying, 0);
    lying.setNow(1e9);
    expect(await due(lying, 15_000)).toBe(1);
    expect(await ids(pull(lying))).toEqual([TURN_KEY]);
  });

  it('is left alone while a lease is alive', async () => {
    const busy = await world(requested(), decided(0), resumed({ until: 60 }));
    await due(busy, 0);
    expect(await due(busy, 0)).toBe(0);
  });

  it.each(['all', 'each'] as const)(
    'is offered from here while it is in doubt and may run again (%s)',
    async (release) => {
      const key = release === 'all' ? TURN_KEY : call(0);
      const left = [requested({ release }), decided(0), resumed({ key, until: 0 }), started(0)];
      const [again, once] = [await world(published([AGAIN]), ...left), await world(...left)];
      const found: number[] = [];
      for (const each of [again, once]) {
        await due(each, 0);
        each.setNow(1e9);
        found.push(await due(each, 15_000));
      }
      expect(found).toEqual([1, 0]);
      expect(await ids(pull(again))).toEqual([key]);
    },
  );

  it('is left alone while it waits for a decision', async () => expect(await due(await world(requested()), 0)).toBe(0));
});
