import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Api } from '../support/api.js';
import { listen } from '../support/sse.js';
import { approve, call, decide, openTurn, pullOne, resume, type OpenedTurn } from '../support/stories.js';
import { World } from '../support/world.js';

const HIDDEN = 'seen-by-few-7431';

/** How far each token reaches: its tenant, its agent, its role's eyes. */
describe('the reach of a token', () => {
  let world: World;
  let agent: Api;
  let approver: Api;
  let operator: Api;
  beforeAll(async () => {
    world = await World.start();
    agent = await world.agent();
    approver = await world.approver();
    operator = await world.as('olga@example.com', { roles: ['operator'] });
  });
  afterAll(() => world.stop());

  /** Every request that names something, as a stranger would make it who knows the names. */
  const requestsFor = (turn: OpenedTurn, leaseId: string, argsDigest: string): [string, string, object?][] => {
    const { conversationId, turnId, approvalIds } = turn;
    const [approvalId = ''] = approvalIds;
    const mine = { workerId: 'w-1', attempt: 1 };
    return [
      ['GET', `/v1/turns/${turnId}?conversationId=${conversationId}`],
      ['POST', `/v1/turns/${turnId}/cancel`, { conversationId }],
      ['POST', `/v1/turns/${turnId}/resume`, { conversationId, workerId: 'w-1' }],
      ['POST', `/v1/turns/${turnId}/end`, { conversationId, attempt: 1, status: 'completed' }],
      ['POST', `/v1/turns/${turnId}/redrive`, { conversationId }],
      ['POST', `/v1/continuations/${leaseId}/resume`, { workerId: 'w-1' }],
      ['POST', `/v1/continuations/${leaseId}/extend`, mine],
      ['POST', `/v1/continuations/${leaseId}/give-back`, mine],
      ['POST', `/v1/continuations/${leaseId}/done`, mine],
      ['GET', `/v1/approvals/${approvalId}`],
      ['POST', `/v1/approvals/${approvalId}/decision`, { decision: 'approve' }],
      ['POST', `/v1/approvals/${approvalId}/revoke`, { reason: 'r' }],
      ['DELETE', `/v1/approvals/${approvalId}/vote`],
      ['POST', `/v1/approvals/${approvalId}/settle`, { ok: true, reason: 'r' }],
      ['POST', `/v1/approvals/${approvalId}/use`, { ...mine, argsDigest }],
      ['POST', `/v1/approvals/${approvalId}/outcome`, { ...mine, ok: true }],
      ['POST', `/v1/parked/${approvalId}/unpark`],
    ];
  };

  const taken = async (by: Api, pool: string) => {
    const turn = await openTurn(by, { pool, toolCalls: [call('c', { text: HIDDEN })] });
    await approve(approver, turn.approvalIds[0]);
    const offer = await pullOne(by, 'w-1', { pool });
    expect((await resume(by, offer['leaseId'], 'w-1')).status).toBe(200);
    return { turn, leaseId: String(offer['leaseId']), argsDigest: String(offer['results'][0].argsDigest) };
  };

  it('ends at its tenant: whatever is beyond is not there, with every role', async () => {
    const { turn, leaseId, argsDigest } = await taken(agent, 'walls');
    const stranger = await world.as('eve', { roles: ['admin'] }, 'elsewhere');
    const before = await history(turn);
    for (const [method, path, body] of requestsFor(turn, leaseId, argsDigest)) {
      const { status } = await ask(stranger, method, path, body);
      expect({ method, path, status }).toEqual({ method, path, status: 404 });
    }
    const [bulk] = (
      await stranger.post('/v1/decisions', { items: [{ approvalId: turn.approvalIds[0], decision: 'deny' }] })
    ).body['items'] as Record<string, any>[];
    expect(bulk).toMatchObject({ verdict: 'refused', problem: { type: 'urn:holdpoint:problem:not-found' } });
    expect(await history(turn)).toEqual(before);
  });

  it('ends at its tenant: lists, streams, numbers and pools of another are empty', async () => {
    const turn = await openTurn(agent, { toolCalls: [call('c', { text: HIDDEN })] });
    const stranger = await world.as('eve', { roles: ['admin'] }, 'elsewhere');
    await world.admin().get(`/v1/approvals?after=${turn.seq}`);
    const heard = listen(stranger, `/v1/conversations/${turn.conversationId}/events?after=0`);
    const feed = listen(stranger, '/v1/stream?after=0');
    await Promise.all([heard.opened, feed.opened]);
    for (const path of ['/v1/approvals', '/v1/turns?status=ready', '/v1/parked'])
      expect({ path, items: (await stranger.get(path)).body['items'] as unknown }).toEqual({ path, items: [] });
    expect((await stranger.get('/v1/stats')).body).toMatchObject({ pending: 0, byTool: [], byAgent: [] });
    const pulled = await stranger.post('/v1/pools/default/continuations/pull', { workerId: 'w', waitSeconds: 1 });
    expect(pulled.body['items']).toEqual([]);
    expect(JSON.stringify((await stranger.get('/v1/events?after=0')).body)).not.toContain(HIDDEN);
    await approve(approver, turn.approvalIds[0]);
    await new Promise((done) => setTimeout(done, 1_000));
    expect(heard.messages).toEqual([]);
    expect(feed.messages.filter(({ data }) => data['type'] === 'approval')).toEqual([]);
    heard.close();
    feed.close();
  });

  it('ends at its tenant: the same ids in another are others', async () => {
    const ids = { conversationId: 'same', turnId: 't', agent: { id: 'a' }, toolCalls: [call('c')] };
    const here = await agent.post('/v1/turns', ids);
    const stranger = await world.as('eve', { roles: ['agent'] }, 'elsewhere');
    const there = await stranger.post('/v1/turns', ids, { 'Idempotency-Key': 'k' });
    expect([here.status, there.status]).toEqual([201, 201]);
    expect(there.body['approvals'][0].approvalId).not.toBe(here.body['approvals'][0].approvalId);
  });

  it('ends at its agent and pools: what is taken by another agent is closed to it', async () => {
    const { turn, leaseId, argsDigest } = await taken(agent, 'theirs');
    const bound = await world.as('bound', { roles: ['agent'], agent: 'a', pools: ['mine'] });
    const before = await history(turn);
    for (const [method, path, body] of requestsFor(turn, leaseId, argsDigest)) {
      const { status } = await ask(bound, method, path, body);
      expect({ method, path, status }).toEqual({ method, path, status: 403 });
    }
    expect((await bound.get('/v1/approvals')).body['items']).toEqual([]);
    expect(await history(turn)).toEqual(before);
    const heard = listen(bound, `/v1/conversations/${turn.conversationId}/events?after=0`);
    await heard.opened.catch(() => undefined);
    await new Promise((done) => setTimeout(done, 500));
    expect(JSON.stringify(heard.messages)).not.toContain(HIDDEN);
    heard.close();
  });

  it('ends at what it asked for itself, however its name is spelled', async () => {
    const turn = await openTurn(agent, { agent: { id: 'a', onBehalfOf: 'jos\u00e9@example.com' } });
    const sameOne = await world.approver('JOSE\u0301@example.com');
    const refused = await decide(sameOne, turn.approvalIds[0], { decision: 'approve' });
    expect(refused).toMatchObject({ status: 403, body: { type: 'urn:holdpoint:problem:self-approval' } });
    await approve(approver, turn.approvalIds[0]);
  });

  it('ends for an operator at what tools are given and give: edited, answered and reported', async () => {
    const { turn, leaseId } = await edited();
    const responded = await openTurn(agent, { pool: 'eyes', toolCalls: [call('c', { text: HIDDEN })] });
    await decide(approver, responded.approvalIds[0], { decision: 'respond', response: { text: HIDDEN } });
    expect(leaseId).toBeTruthy();
    for (const { conversationId, turnId, approvalIds, seq } of [turn, responded]) {
      const conversation = listen(operator, `/v1/conversations/${conversationId}/events?after=0`);
      await conversation.until('tool_approval_decided');
      const seen = [
        await operator.get(`/v1/approvals/${approvalIds[0]}`),
        await operator.get(`/v1/approvals?conversationId=${conversationId}&after=${seq}`),
        await operator.get(`/v1/turns/${turnId}?conversationId=${conversationId}`),
        await operator.get(`/v1/turns?status=ready&after=${seq}`),
        conversation.messages,
      ];
      expect(JSON.stringify(seen[0])).toContain('"toolName":"send_email"');
      for (const one of seen) expect(JSON.stringify(one)).not.toContain(HIDDEN);
    }
    const feed = listen(operator, `/v1/stream?after=${turn.seq - 1}`);
    await feed.until('approval');
    expect(JSON.stringify(feed.messages)).not.toContain(HIDDEN);
  });

  /** Approved with an edit, run and reported: the hidden word is in each. */
  async function edited() {
    const turn = await openTurn(agent, {
      pool: 'eyes',
      context: { summary: HIDDEN },
      toolCalls: [{ ...call('c', { text: HIDDEN }), description: HIDDEN }],
    });
    await decide(approver, turn.approvalIds[0], { decision: 'approve', updatedInput: { text: `${HIDDEN}-2` } });
    const offer = await pullOne(agent, 'w', { pool: 'eyes' });
    const mine = { workerId: 'w', attempt: 1 };
    await resume(agent, offer['leaseId'], 'w');
    const use = { ...mine, argsDigest: offer['results'][0].argsDigest };
    expect((await agent.post(`/v1/approvals/${turn.approvalIds[0]}/use`, use)).status).toBe(200);
    const outcome = { ...mine, ok: true, result: { text: HIDDEN } };
    expect((await agent.post(`/v1/approvals/${turn.approvalIds[0]}/outcome`, outcome)).status).toBe(200);
    return { turn, leaseId: offer['leaseId'] as string };
  }

  const ask = (by: Api, method: string, path: string, body?: object) =>
    by.raw(path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
  const history = async (turn: OpenedTurn) =>
    (await approver.get(`/v1/approvals/${turn.approvalIds[0]}`)).body['history'] as unknown;
});
