import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createInbox } from '@nats-io/transport-node';
import { EVENTS_STREAM } from '#contracts/subjects';
import { connectBroker, type Broker } from '#service/broker';
import { bootstrap } from './bootstrap.js';
import { ACK_WAIT_MS, PROJECTOR } from './durables.js';
import { askedTurn, describeLogContract, endedTurn, freshTenant } from './log.contract.js';
import type { Delivery, Log } from './log.js';

const credsDir = process.env['HOLDPOINT_TEST_NATS_CREDS_DIR'] ?? '';
const servers = [
  { name: 'one server', url: process.env['HOLDPOINT_TEST_NATS_URL'] ?? '', replicas: 1 },
  { name: 'a cluster of three', url: process.env['HOLDPOINT_TEST_CLUSTER_URLS'] ?? '', replicas: 3 },
];

describe.each(servers)('the log on $name', ({ url, replicas }) => {
  let orchestrator: Broker;
  let approvals: Broker;

  beforeAll(async () => {
    await bootstrap({ url, seedFile: join(credsDir, 'bootstrap.nk'), replicas });
    const settings = { natsUrl: url, natsCredsDir: credsDir, natsCa: undefined };
    orchestrator = await connectBroker(settings, 'orchestrator');
    approvals = await connectBroker(settings, 'approval-service');
  });
  afterAll(async () => {
    await orchestrator.close();
    await approvals.close();
  });

  // Only the orchestrator may write the ends of turns, only the approval-service may follow them: the contract needs both.
  describeLogContract((): Log => ({
    append: (fact) => orchestrator.events.append(fact),
    last: (filter) => orchestrator.events.last(filter),
    next: (filter, fromSeq) => orchestrator.events.next(filter, fromSeq),
    follow: (after, signal) => approvals.events.follow(after, signal),
    deliveries: (durable, signal) => approvals.events.deliveries(durable, signal),
    state: () => approvals.events.state(),
  }));

  it('is followed to its end although readers that are no more still have what they asked for', async () => {
    const { lastSeq } = await approvals.events.state();
    for (const natsUrl of url.split(',')) await askAndGo(natsUrl);
    const tenant = freshTenant();
    for (let n = 0; n < 10; n++) await orchestrator.events.append(endedTurn(tenant, `t-${n}`));
    const seqs = await seqsAfter(approvals, lastSeq, 10);
    expect(seqs).toEqual(Array.from({ length: 10 }, (_, n) => lastSeq + 1 + n));
  });

  it('gives to nobody else what is said to be worked on, however long it takes', async () => {
    const fact = endedTurn(freshTenant(), 't-1');
    await orchestrator.events.append(fact);
    const stop = new AbortController();
    let given = 0;
    for await (const delivery of approvals.events.deliveries('approvals', stop.signal)) {
      if (delivery.raw.subject !== fact.subject) delivery.ack();
      else if ((given += 1) === 1) void workOn(delivery).finally(() => stop.abort());
    }
    expect(given).toBe(1);
  });

  it('cuts no reader off that is slower than large facts come', async () => {
    const { lastSeq } = await approvals.events.state();
    const tenant = freshTenant();
    const large = 'x'.repeat(900_000);
    for (let n = 0; n < 120; n++) await orchestrator.events.append(askedTurn(tenant, `t-${n}`, { large }));
    let cuts = 0;
    approvals.onReconnect(() => (cuts += 1));
    const seqs = await seqsAfter(approvals, lastSeq, 120, hangFor(2_000));
    expect(seqs).toEqual(Array.from({ length: 120 }, (_, n) => lastSeq + 1 + n));
    expect(cuts).toBe(0);
  });

  it('is made once and found as it was made', async () => {
    await bootstrap({ url, seedFile: join(credsDir, 'bootstrap.nk'), replicas });
  });

  it('refuses to go on where the stream is not what it should be', async () => {
    const other = replicas === 1 ? 3 : 1;
    await expect(bootstrap({ url, seedFile: join(credsDir, 'bootstrap.nk'), replicas: other })).rejects.toThrow(
      'num_replicas',
    );
  });

  it('lets nobody but its writer write a fact', async () => {
    const refused = await approvals.events.append(endedTurn(freshTenant(), 't-1'));
    expect(refused.is).toBe('unclear');
  });
});

/** As one that is killed while it waits for the next thousand facts. */
async function askAndGo(natsUrl: string): Promise<void> {
  const { connection } = await connectBroker(
    { natsUrl, natsCredsDir: credsDir, natsCa: undefined },
    'approval-service',
  );
  const reply = createInbox('_INBOX.approval-service');
  connection.subscribe(reply);
  const pull = JSON.stringify({ batch: 1_000, expires: 20_000_000_000 });
  connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${EVENTS_STREAM}.${PROJECTOR}`, pull, { reply });
  await connection.flush();
  await connection.close();
}

/** Once, the whole process: nothing is read from any socket meanwhile. */
function hangFor(ms: number): () => void {
  let left = 1;
  return () => {
    if (left-- > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  };
}

async function seqsAfter(
  { events }: Broker,
  after: number,
  count: number,
  each = (): void => undefined,
): Promise<number[]> {
  const enough = new AbortController();
  const seqs: number[] = [];
  for await (const { seq } of events.follow(after, enough.signal)) {
    seqs.push(seq);
    each();
    if (seqs.length === count) enough.abort();
  }
  return seqs;
}

/** For longer than it would take until another is given it. */
async function workOn(delivery: Delivery<unknown>): Promise<void> {
  for (const until = Date.now() + 1.3 * ACK_WAIT_MS; Date.now() < until; await sleep(ACK_WAIT_MS / 4))
    delivery.working();
  delivery.ack();
}
