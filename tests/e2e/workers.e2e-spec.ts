import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Api } from '../support/api.js';
import { approve, call, decide, openTurn, pullOne, resume } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

const LEASE_SECONDS = 2;
const leaseOver = () => sleep((LEASE_SECONDS + 0.3) * 1_000);

describe('workers come, die and come back', () => {
  let world: World;
  let agent: Api;
  let ada: Api;
  let operator: Api;

  beforeAll(async () => {
    world = await World.start({ env: { HOLDPOINT_LEASE_SECONDS: String(LEASE_SECONDS) } });
    agent = await world.agent('worker');
    ada = await world.approver('ada@example.com');
    operator = await world.as('olga@example.com', { roles: ['operator'] });
  });
  afterAll(() => world.stop());

  const use = (approvalId: string | undefined, workerId: string, attempt: number, argsDigest: string) =>
    agent.post(`/v1/approvals/${approvalId}/use`, { workerId, attempt, argsDigest });
  const report = (
    approvalId: string | undefined,
    workerId: string,
    attempt: number,
    more: Record<string, unknown> = {},
  ) =>
    agent.post(`/v1/approvals/${approvalId}/outcome`, {
      workerId,
      attempt,
      ok: true,
      result: { by: workerId },
      ...more,
    });

  it('a worker dies; another goes on with the next attempt, knows what ran, and the first is refused when it comes back', async () => {
    const turn = await openTurn(agent, { pool: 'die', toolCalls: [call('c1'), call('c2'), call('c3')] });
    for (const id of turn.approvalIds) await approve(ada, id);
    const [first, second, third] = turn.approvalIds;
    const offer = await pullOne(agent, 'w-1', { pool: 'die' });
    const digest = offer['results'][0].argsDigest as string;
    expect((await resume(agent, offer['leaseId'], 'w-1')).body).toMatchObject({ attempt: 1 });
    await use(first, 'w-1', 1, digest);
    await report(first, 'w-1', 1);
    await use(second, 'w-1', 1, digest);
    expect(await resume(agent, offer['leaseId'], 'w-2')).toMatchObject({
      status: 409,
      body: { type: 'urn:holdpoint:problem:taken' },
    });

    await leaseOver();
    expect((await ada.get(`/v1/approvals/${second}`)).body['status']).toBe('in-doubt');
    expect(await resume(agent, offer['leaseId'], 'w-2')).toMatchObject({
      status: 409,
      body: { type: 'urn:holdpoint:problem:in-doubt' },
    });
    // The first is only slow: what it did is true, and is recorded.
    expect(await report(second, 'w-1', 1, { result: { late: true } })).toMatchObject({ status: 200 });

    const again = await pullOne(agent, 'w-2', { pool: 'die' });
    const taken = await resume(agent, again['leaseId'], 'w-2');
    expect(taken.body).toMatchObject({
      attempt: 2,
      executions: [
        { approvalId: first, state: 'executed', result: { by: 'w-1' } },
        { approvalId: second, state: 'executed', result: { late: true } },
        { approvalId: third, state: 'free' },
      ],
    });
    expect(await use(third, 'w-1', 1, digest)).toMatchObject({
      status: 409,
      body: { type: 'urn:holdpoint:problem:stale-attempt' },
    });
    const end = (attempt: number) =>
      agent.post(`/v1/turns/${turn.turnId}/end`, { conversationId: turn.conversationId, attempt, status: 'completed' });
    expect(await end(1)).toMatchObject({ status: 409, body: { type: 'urn:holdpoint:problem:stale-attempt' } });
    expect(await use(third, 'w-2', 2, digest)).toMatchObject({ status: 200 });
    await report(third, 'w-2', 2);
    expect(await end(2)).toMatchObject({ status: 200 });
  });

  it('what a worker was given and never took is offered again by itself', async () => {
    const turn = await openTurn(agent, { pool: 'lost' });
    await approve(ada, turn.approvalIds[0]);
    const lost = await pullOne(agent, 'w-1', { pool: 'lost' });
    expect(await pullOne(agent, 'w-2', { pool: 'lost', waitSeconds: 30 })).toMatchObject({ leaseId: lost['leaseId'] });
  });

  it('what is in doubt is settled by a person who did not ask for it, and the turn is offered again', async () => {
    const turn = await openTurn(agent, { pool: 'doubt', agent: { id: 'a', onBehalfOf: 'olga@example.com' } });
    await approve(ada, turn.approvalIds[0]);
    const offer = await pullOne(agent, 'w-1', { pool: 'doubt' });
    await resume(agent, offer['leaseId'], 'w-1');
    await use(turn.approvalIds[0], 'w-1', 1, offer['results'][0].argsDigest);
    const settle = (by: Api) =>
      by.post(`/v1/approvals/${turn.approvalIds[0]}/settle`, {
        ok: false,
        error: 'never arrived',
        reason: 'looked it up',
      });
    const sam = await world.as('sam@example.com', { roles: ['operator'] });
    expect(await settle(sam)).toMatchObject({ status: 409, body: { type: 'urn:holdpoint:problem:not-ready' } });
    await leaseOver();
    expect(await settle(operator)).toMatchObject({
      status: 403,
      body: { type: 'urn:holdpoint:problem:self-approval' },
    });
    expect(await settle(sam)).toMatchObject({ status: 200 });
    expect(await report(turn.approvalIds[0], 'w-1', 1)).toMatchObject({
      status: 409,
      body: { type: 'urn:holdpoint:problem:superseded' },
    });
    const again = await pullOne(agent, 'w-2', { pool: 'doubt' });
    expect(again['results'][0]).toMatchObject({ outcome: { ok: false, error: 'never arrived' } });
    expect((await resume(agent, again['leaseId'], 'w-2')).body).toMatchObject({
      attempt: 2,
      executions: [{ state: 'failed', error: 'never arrived' }],
    });
  });

  it('each call runs as soon as it is approved, in any worker, and the model goes on once', async () => {
    const turn = await openTurn(agent, {
      pool: 'each',
      release: 'each',
      toolCalls: [call('c1'), call('c2'), call('c3')],
    });
    const ran: string[] = [];
    const turns: string[] = [];
    const stop = new AbortController();
    const workers = ['w-1', 'w-2'].map((workerId) => workEach(workerId));
    await approve(ada, turn.approvalIds[2]);
    await eventually(() => Promise.resolve(expect(ran).toEqual([turn.approvalIds[2]])));
    await approve(ada, turn.approvalIds[0]);
    await approve(ada, turn.approvalIds[1]);
    await eventually(() => Promise.resolve(expect(turns).toHaveLength(1)), 30_000);
    stop.abort();
    await Promise.all(workers);
    expect([...ran].sort()).toEqual([...turn.approvalIds].sort());
    expect(await agent.get(`/v1/turns/${turn.turnId}?conversationId=${turn.conversationId}`)).toMatchObject({
      body: { status: 'completed' },
    });

    async function workEach(workerId: string): Promise<void> {
      while (!stop.signal.aborted) {
        const pulled = await agent.post('/v1/pools/each/continuations/pull', { workerId, max: 1, waitSeconds: 1 });
        for (const item of pulled.body['items'] as Record<string, any>[]) await handle(workerId, item);
      }
    }
    async function handle(workerId: string, item: Record<string, any>): Promise<void> {
      const taken = await resume(agent, item['leaseId'], workerId);
      if (taken.status !== 200) return;
      const attempt = Number(taken.body['attempt']);
      if (item['kind'] === 'turn') {
        expect(item['results']).toHaveLength(3);
        for (const result of item['results']) expect(result.outcome).toMatchObject({ ok: true });
        turns.push(item['leaseId'] as string);
        await agent.post(`/v1/turns/${turn.turnId}/end`, {
          conversationId: turn.conversationId,
          attempt,
          status: 'completed',
        });
        return;
      }
      const [result] = item['results'];
      expect(await use(result.approvalId, workerId, attempt, result.argsDigest)).toMatchObject({ status: 200 });
      ran.push(result.approvalId as string);
      expect(await report(result.approvalId, workerId, attempt)).toMatchObject({ status: 200 });
      expect(await agent.post(`/v1/continuations/${item['leaseId']}/done`, { workerId, attempt })).toMatchObject({
        status: 200,
      });
    }
  });

  it('a cancelled turn runs nothing that had not begun', async () => {
    const turn = await openTurn(agent, {
      pool: 'cancel',
      release: 'each',
      toolCalls: [call('c1'), call('c2'), call('c3')],
    });
    await approve(ada, turn.approvalIds[0]);
    const offer = await pullOne(agent, 'w-1', { pool: 'cancel' });
    await resume(agent, offer['leaseId'], 'w-1');
    const digest = offer['results'][0].argsDigest as string;
    await use(turn.approvalIds[0], 'w-1', 1, digest);
    await approve(ada, turn.approvalIds[1]);
    const cancelled = await agent.post(`/v1/turns/${turn.turnId}/cancel`, {
      conversationId: turn.conversationId,
      reason: 'the user left',
    });
    expect(cancelled).toMatchObject({
      status: 200,
      body: {
        status: 'cancelled',
        approvals: [{ status: 'executing' }, { status: 'revoked' }, { status: 'cancelled' }],
      },
    });
    expect(await use(turn.approvalIds[1], 'w-1', 1, digest)).toMatchObject({ status: 409 });
    expect(await decide(ada, turn.approvalIds[2], { decision: 'approve' })).toMatchObject({ status: 409 });
    expect(await report(turn.approvalIds[0], 'w-1', 1)).toMatchObject({ status: 200 });
  });

  it("within its grace the turn is its holder's alone, and after it the pool's", async () => {
    const turn = await openTurn(agent, { pool: 'grace', holder: { workerId: 'h-1', graceSeconds: 4 } });
    await approve(ada, turn.approvalIds[0]);
    const pool = agent.post('/v1/pools/grace/continuations/pull', { workerId: 'w-2', max: 1, waitSeconds: 2 });
    expect((await pool).body['items']).toEqual([]);
    const other = await pullOne(agent, 'w-2', { pool: 'grace' });
    expect(other).toMatchObject({ conversationId: turn.conversationId });
    expect(await resume(agent, other['leaseId'], 'w-2')).toMatchObject({ status: 200, body: { attempt: 1 } });
  });

  it('the holder takes its own turn at once', async () => {
    const turn = await openTurn(agent, { pool: 'hold', holder: { workerId: 'h-1', graceSeconds: 30 } });
    await approve(ada, turn.approvalIds[0]);
    const body = { conversationId: turn.conversationId, workerId: 'h-1' };
    expect(await agent.post(`/v1/turns/${turn.turnId}/resume`, { ...body, workerId: 'h-2' })).toMatchObject({
      status: 403,
    });
    const taken = await agent.post(`/v1/turns/${turn.turnId}/resume`, body);
    expect(taken).toMatchObject({
      status: 200,
      body: { attempt: 1, continuation: { kind: 'turn', results: [{ decision: 'approved' }] } },
    });
  });

  it('a holder that pulls is offered its own turn within its grace', async () => {
    await openTurn(agent, { pool: 'pulls', release: 'each', holder: { workerId: 'h-1', graceSeconds: 30 } }).then(
      (turn) => approve(ada, turn.approvalIds[0]),
    );
    const others = agent.post('/v1/pools/pulls/continuations/pull', { workerId: 'w-9', max: 1, waitSeconds: 6 });
    const offer = await pullOne(agent, 'h-1', { pool: 'pulls', waitSeconds: 6 });
    expect(offer).toMatchObject({ kind: 'call' });
    expect((await others).body['items']).toEqual([]);
  });

  it('a turn that is given back is offered at once, and an extension keeps it', async () => {
    const turn = await openTurn(agent, { pool: 'give' });
    await approve(ada, turn.approvalIds[0]);
    const offer = await pullOne(agent, 'w-1', { pool: 'give' });
    await resume(agent, offer['leaseId'], 'w-1');
    const extended = await agent.post(`/v1/continuations/${offer['leaseId']}/extend`, { workerId: 'w-1', attempt: 1 });
    expect(extended).toMatchObject({ status: 200, body: { attempt: 1 } });
    await leaseOver();
    expect(await resume(agent, offer['leaseId'], 'w-2')).toMatchObject({ status: 200 });
    expect(
      await agent.post(`/v1/continuations/${offer['leaseId']}/extend`, { workerId: 'w-1', attempt: 1 }),
    ).toMatchObject({ status: 409, body: { type: 'urn:holdpoint:problem:stale-attempt' } });
    await agent.post(`/v1/continuations/${offer['leaseId']}/give-back`, { workerId: 'w-2', attempt: 2 });
    const next = await pullOne(agent, 'w-3', { pool: 'give', waitSeconds: 1 });
    expect(next['leaseId']).toBe(offer['leaseId']);
  });

  it('a worker that is stuck does not stop its pool', async () => {
    const turns = [];
    for (let n = 0; n < 10; n += 1) {
      const turn = await openTurn(agent, { pool: 'stuck' });
      await approve(ada, turn.approvalIds[0]);
      turns.push(turn);
    }
    // It takes offers and never comes back to them.
    await agent.post('/v1/pools/stuck/continuations/pull', { workerId: 'stuck', max: 5, waitSeconds: 5 });
    const seen = new Set<string>();
    await eventually(async () => {
      const pulled = await agent.post('/v1/pools/stuck/continuations/pull', {
        workerId: 'w-2',
        max: 10,
        waitSeconds: 2,
      });
      for (const item of pulled.body['items'] as Record<string, string>[]) seen.add(item['conversationId'] ?? '');
      expect(seen.size).toBe(turns.length);
    }, 40_000);
  });
});
