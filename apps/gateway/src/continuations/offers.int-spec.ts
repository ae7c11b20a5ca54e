import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Fact } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, instant, turnKeyOf, type Tenant, type TurnKey } from '#contracts/ids';
import { subjectOf } from '#contracts/subjects';
import { bootstrap } from '#event-log/bootstrap';
import type { Continuation } from '#fold/continuation';
import { PoliciesInForce } from '#policy/in-force';
import { connectBroker, type Broker } from '#service/broker';
import { ReadTurns } from '../turns/read-turns.js';
import { Changes } from '../live/changes.js';
import { continueClosedTurns } from './continue-closed-turns.js';
import { offerAgain } from './offer-again.js';
import { Offers } from './offers.js';
import { decided, ended, givenBack, requested, resumed, worker } from './stories-for-spec.js';

const credsDir = process.env['HOLDPOINT_TEST_NATS_CREDS_DIR'] ?? '';
const servers = [
  { name: 'one server', url: process.env['HOLDPOINT_TEST_NATS_URL'] ?? '', replicas: 1 },
  { name: 'a cluster of three', url: process.env['HOLDPOINT_TEST_CLUSTER_URLS'] ?? '', replicas: 3 },
];

describe.each(servers)('continuations on $name', ({ url, replicas }) => {
  const tenant = `t${randomUUID().slice(0, 8)}` as Tenant;
  const stop = new AbortController();
  const failures: unknown[] = [];
  const loops: Promise<void>[] = [];
  let orchestrator: Broker;
  let approvals: Broker;
  let gateway: Broker;
  let offers: Offers;

  beforeAll(async () => {
    await bootstrap({ url, seedFile: join(credsDir, 'bootstrap.nk'), replicas });
    const settings = { natsUrl: url, natsCredsDir: credsDir, natsCa: undefined };
    orchestrator = await connectBroker(settings, 'orchestrator');
    approvals = await connectBroker(settings, 'approval-service');
    gateway = await connectBroker(settings, 'gateway');
    const report = (error: unknown) => void failures.push(error);
    const changes = new Changes(gateway.events, report);
    const turns = new ReadTurns(gateway.events, gateway.clock, changes);
    offers = new Offers({
      ...gateway,
      policies: new PoliciesInForce(gateway.events),
      heardOf: turns.heardOf,
      report,
      stopping: stop.signal,
    });
    changes.onFreeing((fact) => void offerAgain(gateway.events, offers, fact).catch(report));
    const failed = (_: string, __: unknown, error: unknown) => report(error);
    loops.push(continueClosedTurns({ ...gateway, turns }, { failed }, stop.signal), changes.run(stop.signal));
  });

  afterAll(async () => {
    stop.abort();
    await Promise.all(loops);
    await Promise.all([orchestrator, approvals, gateway].map((broker) => broker.close()));
  });

  const factOf = (event: HoldpointEvent): Fact<HoldpointEvent> => ({
    tenant,
    subject: subjectOf(tenant, event),
    event,
    eventId: randomUUID(),
    occurredAt: instant(Date.now()),
    correlationId: 'conv-1',
    causationId: 'test',
    actor: { kind: 'agent', id: 'test', via: 'test' },
  });
  const append = async (broker: Broker, event: HoldpointEvent) => {
    while ((await broker.events.append(factOf(event))).is === 'unclear') await sleep(50);
  };
  const about = <E extends HoldpointEvent>(event: E, more: object): E => ({
    ...event,
    data: { ...event.data, ...more },
  });
  const open = async (turnId: string): Promise<TurnKey> => {
    const turnKey = turnKeyOf(tenant, 'conv-1', turnId);
    await append(orchestrator, about(requested(), { turnKey, turnId }));
    return turnKey;
  };
  const approve = (turnKey: TurnKey) => append(approvals, about(decided(0), { approvalId: approvalIdOf(turnKey, 0) }));
  const end = (turnKey: TurnKey, turnId: string) => append(orchestrator, about(ended(), { turnKey, turnId }));
  const take = (turnKey: TurnKey) => {
    const lease = { key: turnKey, leaseUntil: instant(Date.now() + 60_000) };
    return append(orchestrator, about(resumed(), lease));
  };

  const pull = (workerId: string, waitSeconds = 10): Promise<{ items: readonly Continuation[] }> =>
    offers.pull({
      caller: worker({ tenant }),
      pool: 'default',
      workerId,
      waitSeconds,
      signal: new AbortController().signal,
      preparePool: () => orchestrator.preparePool(tenant, 'default'),
    });

  it('a worker that waits is offered what was decided, soon, in a pool that was not there', async () => {
    const waiting = pull('w-1');
    const turnKey = await open('first');
    await sleep(500);
    const startedAt = performance.now();
    await approve(turnKey);
    const { items } = await waiting;
    expect(items.map(({ leaseId }) => leaseId)).toEqual([turnKey]);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    await end(turnKey, 'first');
  });

  it('what was given back is offered at once, though the broker would wait for its lease to end', async () => {
    const turnKey = await open('given-back');
    await approve(turnKey);
    await pull('w-1');
    await take(turnKey);
    const waiting = pull('w-2');
    await sleep(500);
    await append(orchestrator, about(givenBack(), { key: turnKey, n: 2 }));
    expect((await waiting).items.map(({ leaseId }) => leaseId)).toEqual([turnKey]);
    await end(turnKey, 'given-back');
  });

  it('many turns and workers: every turn comes to a worker that takes it', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `many-${index}`);
    const left = new Set<string>(names);
    const work = async (workerId: string): Promise<void> => {
      while (left.size > 0) {
        const { items } = await pull(workerId, 1);
        for (const { turnId, leaseId } of items) if (left.delete(turnId)) await end(leaseId as TurnKey, turnId);
      }
    };
    const workers = Array.from({ length: 8 }, (_, index) => work(`w-${index}`));
    await Promise.all(names.map(async (turnId) => approve(await open(turnId))));
    await Promise.all(workers);
    expect(failures).toEqual([]);
  });
});
