import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Api } from '../support/api.js';
import { listen } from '../support/sse.js';
import { approve, call, decide, openTurn, pullOne, resume } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

describe('a tool call is held, decided and continued', () => {
  let world: World;
  let agent: Api;
  let ada: Api;

  beforeAll(async () => {
    world = await World.start();
    agent = await world.agent('demo-agent');
    ada = await world.approver('ada@example.com');
  });
  afterAll(() => world.stop());

  it('from the request to the end of the turn, as the contract has it', async () => {
    const conversationId = 'conv-42';
    const stream = listen(agent, `/v1/conversations/${conversationId}/events`);
    await stream.opened;
    const turn = await openTurn(agent, { conversationId, turnId: 't-1' });
    const [approvalId = ''] = turn.approvalIds;

    const list = await ada.get(`/v1/approvals?status=pending&conversationId=${conversationId}&after=${turn.seq}`);
    expect(list.body['items']).toEqual([
      expect.objectContaining({ approvalId, status: 'pending', toolName: 'send_email' }),
    ]);
    const one = await ada.get(`/v1/approvals/${approvalId}`);
    expect(one.body).toMatchObject({
      approvalId,
      status: 'pending',
      args: { to: 'x@example.com' },
      requirement: { approvers: { count: 1 } },
    });

    await approve(ada, approvalId);
    const continuation = await pullOne(agent, 'w-1');
    expect(continuation).toMatchObject({
      command: 'ContinueConversation',
      kind: 'turn',
      conversationId,
      turnId: 't-1',
      release: 'all',
      pool: 'default',
      results: [
        {
          toolCallId: 'call_1',
          approvalId,
          decision: 'approved',
          args: { to: 'x@example.com' },
          edited: false,
          decidedBy: 'ada@example.com',
        },
      ],
    });
    const taken = await resume(agent, continuation['leaseId'], 'w-1');
    expect(taken).toMatchObject({ status: 200, body: { attempt: 1, executions: [{ approvalId, state: 'free' }] } });
    const argsDigest = continuation['results'][0].argsDigest;
    const use = await agent.post(`/v1/approvals/${approvalId}/use`, { workerId: 'w-1', attempt: 1, argsDigest });
    expect(use).toMatchObject({ status: 200 });
    expect((await ada.get(`/v1/approvals/${approvalId}`)).body).toMatchObject({ status: 'executing' });
    const report = { workerId: 'w-1', attempt: 1, ok: true, result: { messageId: 'm-1' }, durationMs: 12 };
    expect(await agent.post(`/v1/approvals/${approvalId}/outcome`, report)).toMatchObject({ status: 200 });
    expect(await agent.post('/v1/turns/t-1/end', { conversationId, attempt: 1, status: 'completed' })).toMatchObject({
      status: 200,
    });

    const turnNow = await agent.get(`/v1/turns/t-1?conversationId=${conversationId}`);
    expect(turnNow.body).toMatchObject({
      status: 'completed',
      results: [{ approvalId, outcome: { ok: true, result: { messageId: 'm-1' } } }],
    });
    const history = (await ada.get(`/v1/approvals/${approvalId}`)).body['history'] as { type: string; seq: number }[];
    expect(history.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'ToolApprovalRequested',
        'ToolApprovalDecided',
        'ToolExecutionStarted',
        'ToolExecutionSucceeded',
      ]),
    );

    const messages = await stream.until('complete');
    expect(messages.map(({ data }) => data['type'])).toEqual([
      'tool_calls',
      'tool_approval_required',
      'status',
      'tool_approval_decided',
      'status',
      'status',
      'tool_executing',
      'tool_complete',
      'status',
      'complete',
    ]);
    expect(messages.filter(({ data }) => data['type'] === 'status').map(({ data }) => data['status'])).toEqual([
      'awaiting-approval',
      'ready',
      'continuing',
      'completed',
    ]);
    const again = listen(agent, `/v1/conversations/${conversationId}/events`, { 'Last-Event-ID': '1' });
    expect(await again.until('complete')).toEqual(messages);
  });

  it('nobody is offered a turn that has ended', async () => {
    const turn = await openTurn(agent, { pool: 'ending' });
    await approve(ada, turn.approvalIds[0]);
    const continuation = await pullOne(agent, 'w-1', { pool: 'ending' });
    await resume(agent, continuation['leaseId'], 'w-1');
    await agent.post(`/v1/turns/${turn.turnId}/end`, {
      conversationId: turn.conversationId,
      attempt: 1,
      status: 'failed',
    });
    const answer = await agent.post('/v1/pools/ending/continuations/pull', {
      workerId: 'w-2',
      max: 5,
      waitSeconds: 12,
    });
    expect(answer.body['items']).toEqual([]);
  });

  it('a decision may come in the same moment as the request, before anything has projected it', async () => {
    for (let round = 0; round < 20; round += 1) {
      const turn = await openTurn(agent, { pool: 'early' });
      await approve(ada, turn.approvalIds[0]);
    }
  });

  it('an unknown id is not found, and nothing is written', async () => {
    const before = await world.admin().get('/v1/events?limit=1000');
    const answer = await decide(ada, `ap_${'a'.repeat(26)}_0`, { decision: 'approve' });
    expect(answer).toMatchObject({ status: 404, body: { type: 'urn:holdpoint:problem:not-found' } });
    const after = await world.admin().get('/v1/events?limit=1000');
    expect(after.body['items']).toHaveLength((before.body['items'] as unknown[]).length);
  });

  it('arguments that an approver edited are the ones that may run, and no others', async () => {
    const turn = await openTurn(agent, {
      pool: 'edit',
      toolCalls: [{ ...call('c1'), inputSchema: { type: 'object', properties: { to: { type: 'string' } } } }],
    });
    const bad = await decide(ada, turn.approvalIds[0], { decision: 'approve', updatedInput: { to: 7 } });
    expect(bad).toMatchObject({
      status: 422,
      body: {
        type: 'urn:holdpoint:problem:invalid-edit',
        errors: [expect.objectContaining({ path: expect.stringContaining('to') })],
      },
    });
    const edited = await decide(ada, turn.approvalIds[0], {
      decision: 'approve',
      updatedInput: { to: 'y@example.com' },
    });
    expect(edited).toMatchObject({ status: 200, body: { verdict: 'counted' } });
    const continuation = await pullOne(agent, 'w-1', { pool: 'edit' });
    const [result] = continuation['results'];
    expect(result).toMatchObject({ edited: true, args: { to: 'y@example.com' } });
    await resume(agent, continuation['leaseId'], 'w-1');
    const original = (await ada.get(`/v1/approvals/${turn.approvalIds[0]}`)).body['history'][0].data.toolCalls?.[0]
      ?.argsDigest as string;
    const use = (argsDigest: string) =>
      agent.post(`/v1/approvals/${turn.approvalIds[0]}/use`, { workerId: 'w-1', attempt: 1, argsDigest });
    expect(await use(original)).toMatchObject({
      status: 409,
      body: { type: 'urn:holdpoint:problem:arguments-changed', modelText: expect.stringContaining('not run') },
    });
    expect(await use(String(result.argsDigest).replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toMatchObject({
      status: 409,
    });
    expect(await use(result.argsDigest)).toMatchObject({ status: 200 });
    expect(await use(result.argsDigest)).toMatchObject({
      status: 409,
      body: { type: 'urn:holdpoint:problem:already-used' },
    });
  });

  it('a person answers in the place of the tool, and the tool has no right to run', async () => {
    const turn = await openTurn(agent, { pool: 'respond' });
    await decide(ada, turn.approvalIds[0], { decision: 'respond', response: { answer: 'call me' } });
    const continuation = await pullOne(agent, 'w-1', { pool: 'respond' });
    expect(continuation['results'][0]).toMatchObject({ decision: 'responded', response: { answer: 'call me' } });
    await resume(agent, continuation['leaseId'], 'w-1');
    const use = await agent.post(`/v1/approvals/${turn.approvalIds[0]}/use`, {
      workerId: 'w-1',
      attempt: 1,
      argsDigest: continuation['results'][0].argsDigest,
    });
    expect(use).toMatchObject({ status: 409 });
  });

  it('the requester may not approve what it asked for, and the try is on record', async () => {
    const selfish = await world.as('selfish', { roles: ['agent', 'approver'] });
    const turn = await openTurn(selfish);
    const answer = await decide(selfish, turn.approvalIds[0], { decision: 'approve' });
    expect(answer).toMatchObject({ status: 403, body: { type: 'urn:holdpoint:problem:self-approval' } });
    const one = await ada.get(`/v1/approvals/${turn.approvalIds[0]}`);
    expect(one.body).toMatchObject({ status: 'pending' });
    expect(one.body['history']).toEqual(expect.arrayContaining([expect.objectContaining({ type: 'DecisionRefused' })]));
  });

  it('an approval that nobody decides expires, and the turn goes on', async () => {
    const turn = await openTurn(agent, { pool: 'expiry', expiresInSeconds: 2 });
    const continuation = await pullOne(agent, 'w-1', { pool: 'expiry' });
    expect(continuation['results'][0]).toMatchObject({
      decision: 'expired',
      modelText: expect.stringContaining('did not run'),
    });
    expect(await decide(ada, turn.approvalIds[0], { decision: 'approve' })).toMatchObject({
      status: 409,
      body: { type: 'urn:holdpoint:problem:late' },
    });
  });

  it('an approval is taken back before it ran, and cannot be used', async () => {
    const turn = await openTurn(agent, { pool: 'revoke' });
    await approve(ada, turn.approvalIds[0]);
    const continuation = await pullOne(agent, 'w-1', { pool: 'revoke' });
    await resume(agent, continuation['leaseId'], 'w-1');
    expect(await ada.post(`/v1/approvals/${turn.approvalIds[0]}/revoke`, { reason: 'wrong person' })).toMatchObject({
      status: 200,
      body: { revoked: true },
    });
    const use = await agent.post(`/v1/approvals/${turn.approvalIds[0]}/use`, {
      workerId: 'w-1',
      attempt: 1,
      argsDigest: continuation['results'][0].argsDigest,
    });
    expect(use).toMatchObject({ status: 409, body: { type: 'urn:holdpoint:problem:revoked' } });
  });

  it('many are decided in one request, each on its own', async () => {
    const turn = await openTurn(agent, { toolCalls: [call('a'), call('b')] });
    const items = [
      { approvalId: turn.approvalIds[0], decision: 'approve' },
      { approvalId: 'no such thing', decision: 'approve' },
      { approvalId: turn.approvalIds[1], decision: 'deny', reason: 'no' },
    ];
    const answer = await ada.post('/v1/decisions', { items });
    expect(answer).toMatchObject({ status: 200 });
    expect((answer.body['items'] as Record<string, unknown>[]).map((item) => item['verdict'])).toEqual([
      'counted',
      'refused',
      'counted',
    ]);
  });

  it('the same turn again is the same turn; another under its name is a conflict', async () => {
    const body = { conversationId: 'conv-same', turnId: 't-1', agent: { id: 'a' }, toolCalls: [call('c')] };
    expect(await agent.post('/v1/turns', body)).toMatchObject({ status: 201 });
    expect(await agent.post('/v1/turns', { ...body, holder: { workerId: 'w', graceSeconds: 5 } })).toMatchObject({
      status: 200,
    });
    expect(await agent.post('/v1/turns', { ...body, toolCalls: [call('d')] })).toMatchObject({
      status: 409,
      body: { type: 'urn:holdpoint:problem:conflict' },
    });
  });

  it('an Idempotency-Key makes a request the same request: same answer, and a conflict with another body', async () => {
    const body = { conversationId: 'conv-key', agent: { id: 'a' }, toolCalls: [call('c')] };
    const key = { 'Idempotency-Key': 'k-1' };
    const first = await agent.post('/v1/turns', body, key);
    const again = await agent.post('/v1/turns', body, key);
    expect(again.body['turnId']).toBe(first.body['turnId']);
    expect(await agent.post('/v1/turns', { ...body, toolCalls: [call('d')] }, key)).toMatchObject({ status: 409 });
    const id = (first.body['approvals'] as { approvalId: string }[])[0]?.approvalId;
    const decision = { decision: 'deny', reason: 'no' };
    const counted = await ada.post(`/v1/approvals/${id}/decision`, decision, key);
    expect(counted).toMatchObject({ status: 200, body: { verdict: 'counted' } });
    expect((await ada.post(`/v1/approvals/${id}/decision`, decision, key)).body['verdict']).toBe('counted');
    expect(await ada.post(`/v1/approvals/${id}/decision`, { decision: 'approve' }, key)).toMatchObject({
      status: 409,
      body: { type: 'urn:holdpoint:problem:conflict' },
    });
  });

  it('a new turn cancels the one it supersedes', async () => {
    const old = await openTurn(agent, { turnId: 'old' });
    await openTurn(agent, { conversationId: old.conversationId, turnId: 'new', supersedes: 'old' });
    await eventually(async () => {
      const turn = await agent.get(`/v1/turns/old?conversationId=${old.conversationId}`);
      expect(turn.body).toMatchObject({ status: 'cancelled', approvals: [{ status: 'cancelled' }] });
    });
  });

  it('a long poll comes back as soon as the turn is decided', async () => {
    const turn = await openTurn(agent);
    const waiting = agent.get(`/v1/turns/${turn.turnId}?conversationId=${turn.conversationId}&wait=30`);
    await approve(ada, turn.approvalIds[0]);
    expect((await waiting).body).toMatchObject({ status: 'ready', results: [{ decision: 'approved' }] });
  });

  it('a tenant sees nothing of another', async () => {
    const turn = await openTurn(agent);
    const other = await world.as('eve', { roles: ['approver', 'agent', 'operator'] }, 'other');
    expect(await decide(other, turn.approvalIds[0], { decision: 'approve' })).toMatchObject({ status: 404 });
    expect((await other.get(`/v1/turns/${turn.turnId}?conversationId=${turn.conversationId}`)).status).toBe(404);
    expect((await other.get('/v1/approvals')).body['items']).toEqual([]);
  });
});
