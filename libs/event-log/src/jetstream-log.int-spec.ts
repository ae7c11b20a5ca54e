import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { connectBroker, type Broker } from '#service/broker';
import { bootstrap } from './bootstrap.js';
import { describeLogContract, endedTurn, freshTenant } from './log.contract.js';
import type { Log } from './log.js';

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
