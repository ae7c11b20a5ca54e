import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Holdpoint } from '#sdk/holdpoint';
import { HoldpointProblem, HoldpointUnreachable } from '#sdk/problems';
import type { ContinuedTurn, Worker, WorkerOptions } from '#sdk/worker';
import type { Api } from '../support/api.js';
import { decide } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

type Mail = { readonly to: string };

let world: World;
let agent: Api;
let ada: Api;
const workers: Worker[] = [];
beforeAll(async () => {
  world = await World.start({ env: { HOLDPOINT_LEASE_SECONDS: '5' } });
  [agent, ada] = await Promise.all([world.agent(), world.approver('ada')]);
});
afterEach(async () => void (await Promise.all(workers.splice(0).map((worker) => worker.stop(0)))));
afterAll(() => world.stop());

/** An agent's process, with a tool that remembers what it did. */
function office(more: { pool?: string; graceSeconds?: number } = {}) {
  const hold = new Holdpoint({ url: world.url, token: agent.token, ...more });
  const sent: Mail[] = [];
  const sendEmail = hold.tool({
    name: 'send_email',
    inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    execute: (args: Mail) => {
      if (args.to === 'nowhere') throw new Error('no such address');
      sent.push(args);
      return { messageId: `m-${sent.length}` };
    },
  });
  const conversationId = `conv-${randomUUID().slice(0, 8)}`;
  const asking = { conversationId, agent: { id: 'mailer' } };
  return { hold, sent, sendEmail, conversationId, asking };
}

/** The ids of what waits in a conversation, once there are so many. */
async function waiting(conversationId: string, count = 1): Promise<string[]> {
  let ids: string[] = [];
  await eventually(async () => {
    const { body } = await ada.get(`/v1/approvals?status=pending&conversationId=${conversationId}`);
    ids = (body['items'] as { approvalId: string }[]).map(({ approvalId }) => approvalId);
    expect(ids).toHaveLength(count);
  });
  return ids;
}

function serve({ hold, sendEmail }: ReturnType<typeof office>, onContinue: WorkerOptions['onContinue'], more = {}) {
  const worker = hold.worker({ tools: [sendEmail], onContinue, onError: () => undefined, ...more });
  workers.push(worker);
  return worker;
}

const turnOf = async (conversationId: string, turnId: string) =>
  (await agent.get(`/v1/turns/${turnId}?conversationId=${conversationId}`)).body;

describe('a tool that is held', () => {
  it('runs once it is approved, and the turn ends', async () => {
    const { sendEmail, sent, asking, conversationId } = office();
    const called = sendEmail.call({ to: 'x@example.com' }, { ...asking, turnId: 't-1', toolCallId: 'model-7' });
    const [id] = await waiting(conversationId);
    expect(sent).toEqual([]);
    await decide(ada, id, { decision: 'approve' });
    expect(await called).toMatchObject({
      status: 'executed',
      result: { messageId: 'm-1' },
      toolCallId: 'model-7',
      decidedBy: 'ada',
      edited: false,
    });
    expect(sent).toEqual([{ to: 'x@example.com' }]);
    expect(await turnOf(conversationId, 't-1')).toMatchObject({ status: 'completed' });
  });

  it('runs with the arguments that the approver made of it', async () => {
    const { sendEmail, sent, asking, conversationId } = office();
    const called = sendEmail.call({ to: 'x@example.com' }, asking);
    const [id] = await waiting(conversationId);
    await decide(ada, id, { decision: 'approve', updatedInput: { to: 'y@example.com' } });
    expect(await called).toMatchObject({ status: 'executed', edited: true, args: { to: 'y@example.com' } });
    expect(sent).toEqual([{ to: 'y@example.com' }]);
  });

  it.each([
    [
      { decision: 'deny', reason: 'not today' },
      { status: 'denied', reason: 'not today' },
    ],
    [{ decision: 'cancel' }, { status: 'cancelled' }],
    [
      { decision: 'respond', response: { sent: false } },
      { status: 'responded', response: { sent: false } },
    ],
  ])('does not run after %j: that is a value', async (decision, outcome) => {
    const { sendEmail, sent, asking, conversationId } = office();
    const called = sendEmail.call({ to: 'x@example.com' }, asking);
    const [id] = await waiting(conversationId);
    await decide(ada, id, decision);
    expect(await called).toMatchObject({ ...outcome, modelText: expect.any(String) });
    expect(sent).toEqual([]);
  });

  it('does not run when its time is over', async () => {
    const { sendEmail, sent, asking } = office();
    const outcome = await sendEmail.call({ to: 'x@example.com' }, { ...asking, expiresInSeconds: 1 });
    expect(outcome).toMatchObject({ status: 'expired' });
    expect(sent).toEqual([]);
  });

  it('that throws has failed, and says how', async () => {
    const { sendEmail, asking, conversationId } = office();
    const called = sendEmail.call({ to: 'nowhere' }, asking);
    const [id] = await waiting(conversationId);
    await decide(ada, id, { decision: 'approve' });
    expect(await called).toMatchObject({ status: 'failed', error: 'no such address' });
    expect((await ada.get(`/v1/approvals/${id}`)).body).toMatchObject({ status: 'failed' });
  });

  it('does not run while it is frozen, and says so', async () => {
    const { sendEmail, sent, asking, conversationId } = office();
    const freeze = (on: boolean) => world.admin().post('/v1/freezes', { tool: 'send_*', on, reason: 'drill' });
    await freeze(true);
    const called = sendEmail.call({ to: 'x@example.com' }, asking);
    const [id] = await waiting(conversationId);
    await decide(ada, id, { decision: 'approve' });
    const outcome = await called.finally(() => freeze(false));
    expect(outcome).toMatchObject({ status: 'refused', problem: 'frozen', modelText: expect.stringMatching(/frozen/) });
    expect(sent).toEqual([]);
  });

  it('is refused by name where the token may not ask', async () => {
    const hold = new Holdpoint({ url: world.url, token: ada.token });
    const refused = hold.tool({ name: 'pay', execute: () => 1 }).call({}, office().asking);
    await expect(refused).rejects.toMatchObject({ name: 'forbidden', status: 403 });
    await expect(refused).rejects.toThrow(HoldpointProblem);
  });

  it('outlives a restart of everything while it waits', async () => {
    const { sendEmail, sent, asking, conversationId } = office();
    const called = sendEmail.call({ to: 'x@example.com' }, asking);
    const [id] = await waiting(conversationId);
    for (const name of ['gateway', 'approval-service', 'orchestrator'] as const) {
      await world.kill(name);
      world.startService(name);
    }
    await world.ready();
    await eventually(async () => expect(await decide(ada, id, { decision: 'approve' })).toMatchObject({ status: 200 }));
    expect(await called).toMatchObject({ status: 'executed' });
    expect(sent).toHaveLength(1);
  });

  it('does not run where Holdpoint is not there: that is an error', async () => {
    const hold = new Holdpoint({ url: 'http://127.0.0.1:9', token: agent.token, patienceMs: 300 });
    const ran: unknown[] = [];
    const tool = hold.tool({ name: 'send_email', execute: (args) => void ran.push(args) });
    await expect(tool.call({}, office().asking)).rejects.toThrow(HoldpointUnreachable);
    expect(ran).toEqual([]);
  });

  it('gives up waiting when told so, and the approval stays', async () => {
    const { sendEmail, asking, conversationId } = office();
    const stop = new AbortController();
    const called = sendEmail.call({ to: 'x@example.com' }, { ...asking, signal: stop.signal });
    const [id] = await waiting(conversationId);
    stop.abort(new Error('enough'));
    await expect(called).rejects.toThrow('enough');
    expect((await ada.get(`/v1/approvals/${id}`)).body).toMatchObject({ status: 'pending' });
  });
});

describe('a turn of several calls', () => {
  it('goes on when all are decided; one denied does not keep the others', async () => {
    const { hold, sendEmail, sent, asking, conversationId } = office();
    const calls = ['a', 'b', 'c'].map((to) => ({ tool: sendEmail, args: { to } }));
    const asked = hold.turn({ ...asking, turnId: 't-1', calls });
    const [first, second, third] = await waiting(conversationId, 3);
    await decide(ada, second, { decision: 'deny', reason: 'no' });
    await decide(ada, third, { decision: 'approve' });
    await decide(ada, first, { decision: 'approve' });
    const { outcomes, end } = await asked;
    expect(outcomes.map(({ status, toolCallId }) => [toolCallId, status])).toEqual([
      ['call_1', 'executed'],
      ['call_2', 'denied'],
      ['call_3', 'executed'],
    ]);
    expect(sent).toEqual([{ to: 'a' }, { to: 'c' }]);
    expect(await turnOf(conversationId, 't-1')).not.toMatchObject({ status: 'completed' });
    await end();
    expect(await turnOf(conversationId, 't-1')).toMatchObject({ status: 'completed' });
  });
});

describe('a worker', () => {
  it('goes on with turns that others opened, once each', async () => {
    const one = office();
    const continued: ContinuedTurn[] = [];
    serve(one, (turn) => Promise.resolve(void continued.push(turn)));
    const opened = await agent.post('/v1/turns', {
      ...one.asking,
      turnId: 't-1',
      toolCalls: [{ toolCallId: 'c', toolName: 'send_email', args: { to: 'x@example.com' } }],
    });
    expect(opened.status).toBe(201);
    const [id] = await waiting(one.conversationId);
    await decide(ada, id, { decision: 'approve' });
    await eventually(async () =>
      expect(await turnOf(one.conversationId, 't-1')).toMatchObject({ status: 'completed' }),
    );
    expect(one.sent).toEqual([{ to: 'x@example.com' }]);
    expect(continued).toMatchObject([
      { conversationId: one.conversationId, turnId: 't-1', attempt: 1, outcomes: [{ status: 'executed' }] },
    ]);
  });

  it('runs each call as soon as it is approved where the turn says so, and goes on when all have ended', async () => {
    const one = office();
    const continued: ContinuedTurn[] = [];
    serve(one, (turn) => Promise.resolve(void continued.push(turn)));
    const toolCalls = ['a', 'b'].map((to) => ({ toolCallId: to, toolName: 'send_email', args: { to } }));
    await agent.post('/v1/turns', { ...one.asking, turnId: 't-1', release: 'each', toolCalls });
    const [first, second] = await waiting(one.conversationId, 2);
    await decide(ada, second, { decision: 'approve' });
    await eventually(() => Promise.resolve(expect(one.sent).toEqual([{ to: 'b' }])));
    expect(continued).toEqual([]);
    await decide(ada, first, { decision: 'approve' });
    await eventually(async () =>
      expect(await turnOf(one.conversationId, 't-1')).toMatchObject({ status: 'completed' }),
    );
    expect(one.sent).toHaveLength(2);
    expect(continued).toMatchObject([{ outcomes: [{ status: 'executed' }, { status: 'executed' }] }]);
  });

  it('that cannot go on gives back, and another does, without running the tool again', async () => {
    const [one, other] = [office(), office()];
    const attempts: number[] = [];
    serve(one, ({ attempt }) => {
      attempts.push(attempt);
      return attempt === 1 ? Promise.reject(new Error('the model is away')) : Promise.resolve();
    });
    await agent.post('/v1/turns', {
      ...one.asking,
      turnId: 't-1',
      toolCalls: [{ toolCallId: 'c', toolName: 'send_email', args: { to: 'x@example.com' } }],
    });
    const [id] = await waiting(one.conversationId);
    await decide(ada, id, { decision: 'approve' });
    await eventually(async () =>
      expect(await turnOf(one.conversationId, 't-1')).toMatchObject({ status: 'completed' }),
    );
    expect(attempts).toEqual([1, 2]);
    expect([...one.sent, ...other.sent]).toHaveLength(1);
  });

  it('leaves alone what it has no tool for', async () => {
    const one = office({ pool: 'special' });
    serve(one, () => Promise.resolve(), { pool: 'special' });
    await agent.post('/v1/turns', {
      ...one.asking,
      pool: 'special',
      turnId: 't-1',
      toolCalls: [{ toolCallId: 'c', toolName: 'launch', args: {} }],
    });
    const [id] = await waiting(one.conversationId);
    await decide(ada, id, { decision: 'approve' });
    await eventually(async () => expect(await turnOf(one.conversationId, 't-1')).toMatchObject({ status: 'ready' }));
    expect((await ada.get(`/v1/approvals/${id}`)).body).toMatchObject({ status: 'approved' });
  });

  it('keeps its lease for as long as the tool takes', async () => {
    const one = office({ pool: 'slow' });
    let runs = 0;
    const slow = one.hold.tool({
      name: 'slow',
      execute: async (_: Record<string, unknown>, { signal }) => {
        runs += 1;
        await new Promise((resolve) => setTimeout(resolve, 12_000));
        return signal.aborted;
      },
    });
    const continued: ContinuedTurn[] = [];
    const onContinue = (turn: ContinuedTurn) => Promise.resolve(void continued.push(turn));
    for (const each of [one, office({ pool: 'slow' })]) serve(each, onContinue, { pool: 'slow', tools: [slow] });
    await agent.post('/v1/turns', {
      ...one.asking,
      pool: 'slow',
      turnId: 't-1',
      toolCalls: [{ toolCallId: 'c', toolName: 'slow', args: {} }],
    });
    const [id] = await waiting(one.conversationId);
    await decide(ada, id, { decision: 'approve' });
    await eventually(async () =>
      expect(await turnOf(one.conversationId, 't-1')).toMatchObject({ status: 'completed' }),
    );
    expect(runs).toBe(1);
    expect(continued).toMatchObject([{ attempt: 1, outcomes: [{ status: 'executed', result: false }] }]);
  });
});

describe('watching a conversation', () => {
  it('tells what happens in it, also across a restart of the gateway', async () => {
    const { hold, sendEmail, asking, conversationId } = office();
    const seen: string[] = [];
    const stop = new AbortController();
    const watching = (async () => {
      for await (const { type } of hold.watch(conversationId, { after: 0, signal: stop.signal })) seen.push(type);
    })();
    const called = sendEmail.call({ to: 'x@example.com' }, asking);
    const [id] = await waiting(conversationId);
    await eventually(() => Promise.resolve(expect(seen).toContain('tool_approval_required')));
    await world.kill('gateway');
    world.startService('gateway');
    await world.ready();
    await decide(ada, id, { decision: 'approve' });
    await called;
    await eventually(() => Promise.resolve(expect(seen).toContain('complete')));
    stop.abort();
    await watching;
    for (const type of ['tool_calls', 'tool_approval_required', 'tool_approval_decided', 'tool_complete', 'complete'])
      expect(seen.filter((one) => one === type)).toHaveLength(1);
  });
});
