import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Api } from '../support/api.js';
import { listen } from '../support/sse.js';
import { approve, call, decide, openTurn, pullOne, resume } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

const TABLES = ['turns', 'approvals', 'due', 'tokens', 'attempts', 'policies', 'grants', 'event_log', 'parked_events'];

describe('servers and services go away and come back', () => {
  let world: World;
  let agent: Api;
  let ada: Api;

  beforeAll(async () => {
    world = await World.start();
    agent = await world.agent('worker');
    ada = await world.approver('ada@example.com');
  });
  afterAll(() => world.stop());

  const query = async <Row>(text: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: world.servers.databaseUrl });
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end();
    }
  };
  const dump = async () =>
    Promise.all(
      TABLES.map(async (table) => [
        table,
        (await query(`SELECT t::text AS row FROM ${table} t ORDER BY 1`)).map((one) => JSON.stringify(one)),
      ]),
    );

  const oneStory = async () => {
    const turn = await openTurn(agent, {
      toolCalls: [call('a'), call('b')],
      holder: { workerId: 'w', graceSeconds: 30 },
    });
    await approve(ada, turn.approvalIds[0]);
    await decide(ada, turn.approvalIds[1], { decision: 'deny', reason: 'no \u0000 thanks' });
    const taken = await agent.post(`/v1/turns/${turn.turnId}/resume`, {
      conversationId: turn.conversationId,
      workerId: 'w',
    });
    expect(taken.status).toBe(200);
    const { argsDigest } = taken.body['continuation'].results[0];
    await agent.post(`/v1/approvals/${turn.approvalIds[0]}/use`, { workerId: 'w', attempt: 1, argsDigest });
    return agent.post(`/v1/approvals/${turn.approvalIds[0]}/outcome`, {
      workerId: 'w',
      attempt: 1,
      ok: true,
      result: { text: 'a\u0000b' },
    });
  };

  it('Postgres is wiped: the read model comes back the same, row for row, tokens included', async () => {
    for (let n = 0; n < 5; n += 1) await oneStory();
    const { body } = await oneStory();
    await ada.get(`/v1/approvals?after=${String(body['seq'])}`);
    const before = await dump();
    expect(before.map(([table]) => table)).toEqual(TABLES);
    await world.kill('approval-service', 'SIGTERM');
    await query('DROP SCHEMA public CASCADE');
    await query('CREATE SCHEMA public');
    world.startService('approval-service');
    await eventually(async () => expect(await dump()).toEqual(before), 30_000);
    const list = await world.admin().get('/v1/tokens');
    expect((list.body['items'] as unknown[]).length).toBeGreaterThanOrEqual(2);
  });

  it('Postgres is stopped: open, decide and continue go on, lists say that they cannot', async () => {
    await world.servers.postgres.kill();
    await oneStory();
    const turn = await openTurn(agent, { pool: 'no-db' });
    await approve(ada, turn.approvalIds[0]);
    const offer = await pullOne(agent, 'w', { pool: 'no-db' });
    expect((await resume(agent, offer['leaseId'], 'w')).status).toBe(200);
    expect(await ada.get('/v1/approvals')).toMatchObject({
      status: 503,
      body: { type: 'urn:holdpoint:problem:unavailable' },
    });
    expect((await fetch(`${world.url}/readyz`)).status).toBe(200);
    await world.servers.postgres.restart();
    await eventually(async () => {
      const list = await ada.get(`/v1/approvals?conversationId=${turn.conversationId}`);
      expect(list.body['items']).toEqual([expect.objectContaining({ approvalId: turn.approvalIds[0] })]);
    }, 30_000);
  });

  it('two hundred wait, and cost the database no query', async () => {
    const turns = await Promise.all(Array.from({ length: 10 }, () => openTurn(agent, { pool: 'idle' })));
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const waiting = Array.from({ length: 100 }, (_, n) => {
      const turn = turns[n % 10];
      return agent
        .raw(`/v1/turns/${turn?.turnId}?conversationId=${turn?.conversationId}&wait=50`, { signal: stop.signal })
        .catch(() => undefined);
    });
    const streams = Array.from({ length: 100 }, (_, n) =>
      listen(agent, `/v1/conversations/${turns[n % 10]?.conversationId}/events`),
    );
    await Promise.all(streams.map(({ opened }) => opened));
    await sleep(3_000);
    await query("ALTER SYSTEM SET log_statement = 'all'");
    await query('SELECT pg_reload_conf()');
    await sleep(500);
    const log = join(world.servers.dir, 'postgres', 'postgres.log');
    const count = () => Promise.resolve(readFileSync(log, 'utf8').split(/LOG: {2}(?:statement|execute)/).length);
    // The sweep once a second and the reconciler are there with waiters and without.
    const withWaiters = await during(count, 5_000);
    stop.abort();
    for (const stream of streams) stream.close();
    await Promise.all(waiting);
    await sleep(1_000);
    const without = await during(count, 5_000);
    expect(withWaiters).toBeLessThanOrEqual(without + 4);
  });

  it('NATS is killed and comes back: nothing recorded is lost, and everybody goes on', async () => {
    const turn = await openTurn(agent, { pool: 'nats' });
    await world.servers.nats.restart();
    await world.ready();
    await eventually(async () =>
      expect(await decide(ada, turn.approvalIds[0], { decision: 'approve' })).toMatchObject({ status: 200 }),
    );
    const offer = await pullOne(agent, 'w', { pool: 'nats' });
    expect((await resume(agent, offer['leaseId'], 'w')).status).toBe(200);
  });

  it('two of everything, one of each killed on the way: every turn goes on once', async () => {
    for (const name of ['orchestrator', 'approval-service'] as const) world.startService(name, { instance: '-2' });
    const turns = await Promise.all(Array.from({ length: 30 }, () => openTurn(agent, { pool: 'two' })));
    const deciding = Promise.all(
      turns.map(({ approvalIds }) =>
        eventually(async () =>
          expect([200, 409]).toContain((await decide(ada, approvalIds[0], { decision: 'approve' })).status),
        ),
      ),
    );
    await sleep(30);
    await Promise.all([world.kill('orchestrator'), world.kill('approval-service')]);
    await deciding;
    const taken = new Map<string, number>();
    await eventually(async () => {
      const pulled = await agent.post('/v1/pools/two/continuations/pull', { workerId: 'w', max: 10, waitSeconds: 2 });
      for (const item of pulled.body['items'] as Record<string, string>[]) {
        const answer = await resume(agent, item['leaseId'] ?? '', 'w');
        if (answer.status === 200) taken.set(item['leaseId'] ?? '', (taken.get(item['leaseId'] ?? '') ?? 0) + 1);
      }
      expect(taken.size).toBe(30);
    }, 60_000);
    expect([...taken.values()].every((times) => times === 1)).toBe(true);
    for (const turn of turns)
      expect((await ada.get(`/v1/approvals/${turn.approvalIds[0]}`)).body).toMatchObject({ status: 'approved' });
  });

  it('services that are told to stop while NATS is away do stop', async () => {
    const names = ['gateway', 'orchestrator-2', 'approval-service-2'];
    const services = names.map((name) => world.process(name));
    await world.servers.nats.kill();
    await Promise.all(names.map((name) => world.kill(name, 'SIGTERM')));
    expect(services.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  });
});

async function during(count: () => Promise<number>, ms: number): Promise<number> {
  const before = await count();
  await sleep(ms);
  return (await count()) - before;
}
