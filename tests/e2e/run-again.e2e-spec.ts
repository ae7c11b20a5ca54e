import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Api } from '../support/api.js';
import { approve, call, openTurn, pullOne, resume } from '../support/stories.js';
import { World } from '../support/world.js';

const LEASE_SECONDS = 2;
const leaseOver = () => sleep((LEASE_SECONDS + 0.3) * 1_000);
const problem = (name: string) => ({ status: 409, body: { type: `urn:holdpoint:problem:${name}` } });

/** Reading may run twice; everything else waits for a person who knows what happened. */
describe('a worker dies in the middle of a call', () => {
  let world: World;
  let agent: Api;
  let ada: Api;
  let operator: Api;
  let version = 0;

  beforeAll(async () => {
    world = await World.start({ env: { HOLDPOINT_LEASE_SECONDS: String(LEASE_SECONDS) } });
    agent = await world.agent('worker');
    ada = await world.approver('ada@example.com');
    operator = await world.as('olga@example.com', { roles: ['operator'] });
    await publish({ id: 'reads', tools: ['read_*'], idempotent: true });
  });
  afterAll(() => world.stop());

  async function publish(...rules: object[]): Promise<void> {
    const one = { approvers: { count: 1 } };
    const asking = rules.map((rule) => ({ ...rule, then: 'require', require: one }));
    const policy = { expectedVersion: version, rules: asking, default: one };
    expect(await operator.post('/v1/policies', policy)).toMatchObject({ status: 201 });
    version += 1;
  }
  const read = (toolCallId: string) => ({ ...call(toolCallId), toolName: 'read_file' });
  const use = (id: string | undefined, workerId: string, attempt: number, argsDigest: string) =>
    agent.post(`/v1/approvals/${id}/use`, { workerId, attempt, argsDigest });
  const report = (id: string | undefined, workerId: string, attempt: number) =>
    agent.post(`/v1/approvals/${id}/outcome`, { workerId, attempt, ok: true, result: { by: workerId } });
  const statusOf = async (id: string | undefined) => String((await ada.get(`/v1/approvals/${id}`)).body['status']);

  /** A worker takes an approved turn, begins its first call, and is never heard of again. */
  async function leftBehind(pool: string, more: Record<string, unknown>) {
    const turn = await openTurn(agent, { pool, ...more });
    for (const id of turn.approvalIds) await approve(ada, id);
    const offer = await pullOne(agent, 'w-1', { pool });
    expect(await resume(agent, offer['leaseId'], 'w-1')).toMatchObject({ body: { attempt: 1 } });
    const [result] = offer['results'];
    const id = String(result.approvalId);
    const digest = String(result.argsDigest);
    expect(await use(id, 'w-1', 1, digest)).toMatchObject({ status: 200 });
    return { ...turn, id, digest, leaseId: String(offer['leaseId']) };
  }

  it('what may run twice is offered to another by itself, is free, runs, and the turn ends', async () => {
    const { id, digest, turnId, conversationId } = await leftBehind('again', { toolCalls: [read('c1')] });
    // Said too late: each request is judged by the version before it.
    await publish({ id: 'reads', tools: ['read_*'] });
    await leaseOver();
    expect(await statusOf(id)).toBe('in-doubt');
    const offer = await pullOne(agent, 'w-2', { pool: 'again' });
    expect(await resume(agent, offer['leaseId'], 'w-2')).toMatchObject({
      status: 200,
      body: { attempt: 2, executions: [{ approvalId: id, state: 'free' }] },
    });
    expect(await use(id, 'w-1', 1, digest)).toMatchObject(problem('already-used'));
    const before = (await ada.get(`/v1/approvals/${id}`)).body['seq'];
    expect(await use(id, 'w-2', 2, digest)).toMatchObject({ status: 200, body: { attempt: 2 } });
    expect((await ada.get(`/v1/approvals/${id}`)).body['seq']).toBe(before);
    const sam = await world.as('sam@example.com', { roles: ['operator'] });
    const settled = { ok: false, error: 'lost', reason: 'looked it up' };
    expect(await sam.post(`/v1/approvals/${id}/settle`, settled)).toMatchObject(problem('not-ready'));
    expect(await report(id, 'w-2', 2)).toMatchObject({ status: 200, body: { recorded: true } });
    expect(await report(id, 'w-1', 1)).toMatchObject(problem('conflict'));
    expect(await statusOf(id)).toBe('executed');
    const end = { conversationId, attempt: 2, status: 'completed' };
    expect(await agent.post(`/v1/turns/${turnId}/end`, end)).toMatchObject({ status: 200 });
    await publish({ id: 'reads', tools: ['read_*'], idempotent: true });
  });

  it('a call released by itself is offered again too, beside one that nobody has decided', async () => {
    const turn = await openTurn(agent, { pool: 'call', release: 'each', toolCalls: [read('c1'), call('c2')] });
    const [id] = turn.approvalIds;
    await approve(ada, id);
    const offer = await pullOne(agent, 'w-1', { pool: 'call' });
    await resume(agent, offer['leaseId'], 'w-1');
    const digest = String(offer['results'][0].argsDigest);
    await use(id, 'w-1', 1, digest);
    await leaseOver();
    const again = await pullOne(agent, 'w-2', { pool: 'call' });
    expect(again).toMatchObject({ kind: 'call', leaseId: id });
    expect(await resume(agent, again['leaseId'], 'w-2')).toMatchObject({
      status: 200,
      body: { attempt: 2, executions: [{ approvalId: id, state: 'free' }] },
    });
    expect(await use(id, 'w-2', 2, digest)).toMatchObject({ status: 200 });
    expect(await report(id, 'w-2', 2)).toMatchObject({ status: 200 });
  });

  it('what must run once stays in doubt, is offered to nobody, and waits for a person', async () => {
    const { id, digest, leaseId } = await leftBehind('once', { toolCalls: [call('c1')] });
    // Said too late.
    await publish({ id: 'all', tools: ['*'], idempotent: true });
    await leaseOver();
    expect(await statusOf(id)).toBe('in-doubt');
    const pulled = await agent.post('/v1/pools/once/continuations/pull', { workerId: 'w-2', max: 1, waitSeconds: 8 });
    expect(pulled).toMatchObject({ status: 200, body: { items: [] } });
    expect(await resume(agent, leaseId, 'w-2')).toMatchObject(problem('in-doubt'));
    expect(await use(id, 'w-2', 2, digest)).toMatchObject(problem('already-used'));
    expect(await report(id, 'w-2', 2)).toMatchObject(problem('stale-attempt'));
  });
});
