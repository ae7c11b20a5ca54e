import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Api, ApiAnswer } from '../support/api.js';
import { NAMED_STEPS, type StepStory as Story } from '../support/steps.js';
import { call } from '../support/stories.js';
import { eventually, World, type ServiceName } from '../support/world.js';

const KILLER = join(import.meta.dirname, '..', 'support', 'kill-at.mjs');
describe('a service killed at a step, and started again', () => {
  let world: World;
  let agent: Api;
  let ada: Api;

  beforeAll(async () => {
    world = await World.start({ env: { HOLDPOINT_LEASE_SECONDS: '5' } });
    agent = await world.agent('worker');
    ada = await world.approver('ada@example.com');
  });
  afterAll(() => world.stop());

  it.each([...NAMED_STEPS])('%s, %s (%s): everything happens once, and nothing hangs', async (service, step, story) => {
    const { died } = await armed(world, service, step);
    const turn = await tell(story, agent, ada);
    await died;
    await world.ready();
    await eventually(async () => expectOnce(await factsOf(world, turn.conversationId), story), 45_000);
  });
});

/** Restarts a service so that it dies at the step, and starts it again when it has. */
async function armed(world: World, name: ServiceName, step: string): Promise<{ died: Promise<void> }> {
  await world.kill(name, 'SIGTERM');
  world.startService(name, { env: { NODE_OPTIONS: `--import=${KILLER}`, KILL_AT: step } });
  const child = world.process(name);
  const died = new Promise<void>((resolve, reject) => {
    const tooLate = setTimeout(() => reject(new Error(`${name} never came to ${step}`)), 60_000);
    child.once('exit', (_, signal) => {
      clearTimeout(tooLate);
      if (signal !== 'SIGKILL') return reject(new Error(`${name} ended by ${signal ?? 'itself'} before ${step}`));
      world.startService(name);
      resolve();
    });
  });
  died.catch(() => undefined);
  // A projector may come to its step before anybody asks for anything.
  await world.ready().catch(() => undefined);
  return { died };
}

/** Asks until there is an answer that is one: the connection may break, the outcome may be unknown, it may take too long. */
async function insist(api: Api, path: string, body: unknown): Promise<ApiAnswer> {
  const headers = { 'content-type': 'application/json', 'Idempotency-Key': randomUUID() };
  return eventually(async () => {
    const signal = AbortSignal.timeout(2_000);
    const answer = await api.raw(path, { method: 'POST', body: JSON.stringify(body), headers, signal });
    if (answer.status >= 500) throw new Error(`${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer;
  }, 45_000);
}

async function tell(story: Story, agent: Api, ada: Api): Promise<{ conversationId: string }> {
  const conversationId = `conv-${randomUUID().slice(0, 8)}`;
  const pool = `pool-${randomUUID().slice(0, 8)}`;
  const turn = {
    conversationId,
    turnId: 't-1',
    agent: { id: 'a' },
    pool,
    toolCalls: [call('c1')],
    ...(story === 'expire' ? { expiresInSeconds: 1 } : {}),
    ...(story === 'each' ? { release: 'each' } : {}),
  };
  const opened = await insist(agent, '/v1/turns', turn);
  expect([200, 201]).toContain(opened.status);
  const approvalId = (opened.body['approvals'] as { approvalId: string }[])[0]?.approvalId;
  if (story === 'cancel') {
    await insist(agent, '/v1/turns/t-1/cancel', { conversationId, reason: 'no longer needed' });
    return { conversationId };
  }
  if (story !== 'expire') await insist(ada, `/v1/approvals/${approvalId}/decision`, { decision: 'approve' });
  if (story === 'revoke')
    expect(await insist(ada, `/v1/approvals/${approvalId}/revoke`, { reason: 'wrong' })).toMatchObject({ status: 200 });
  await workUntilEnd(agent, { pool, conversationId });
  return { conversationId };
}

/** A worker as the contract wants it: pulls until it is offered something, takes it, runs what it may, ends the turn. */
async function workUntilEnd(
  agent: Api,
  { pool, conversationId }: { pool: string; conversationId: string },
): Promise<void> {
  await eventually(async () => {
    const pulled = await agent.post(`/v1/pools/${pool}/continuations/pull`, {
      workerId: 'w-1',
      max: 1,
      waitSeconds: 5,
    });
    const [item] = (pulled.body['items'] ?? []) as Record<string, any>[];
    if (!item) throw new Error(`Nothing is offered: ${pulled.status} ${JSON.stringify(pulled.body)}`);
    const taken = await insist(agent, `/v1/continuations/${item['leaseId']}/resume`, { workerId: 'w-1' });
    if (taken.status !== 200) throw new Error(`Not taken: ${JSON.stringify(taken.body)}`);
    const attempt = Number(taken.body['attempt']);
    for (const { approvalId, state } of taken.body['executions'] as Record<string, string>[])
      if (state === 'free')
        await execute(agent, { approvalId: approvalId ?? '', attempt, argsDigest: item['results'][0].argsDigest });
    if (item['kind'] === 'call') throw new Error('The call has run; the turn comes next');
    const ended = await insist(agent, `/v1/turns/${item['turnId']}/end`, {
      conversationId,
      attempt,
      status: 'completed',
    });
    if (ended.status !== 200) throw new Error(`Not ended: ${JSON.stringify(ended.body)}`);
  }, 60_000);
}

async function execute(
  agent: Api,
  { approvalId, attempt, argsDigest }: { approvalId: string; attempt: number; argsDigest: string },
): Promise<void> {
  const used = await insist(agent, `/v1/approvals/${approvalId}/use`, { workerId: 'w-1', attempt, argsDigest });
  if (used.status !== 200) throw new Error(`Not used: ${JSON.stringify(used.body)}`);
  const report = { workerId: 'w-1', attempt, ok: true, result: { sent: true } };
  expect(await insist(agent, `/v1/approvals/${approvalId}/outcome`, report)).toMatchObject({ status: 200 });
}

interface Told {
  readonly types: string[];
  readonly commands: number;
}

async function factsOf(world: World, conversationId: string): Promise<Told> {
  const admin = world.admin();
  const types: string[] = [];
  for (let cursor: string | null = '0'; cursor !== null;) {
    const page = await admin.get(`/v1/events?limit=1000&after=${cursor}`);
    expect(page.status).toBe(200);
    for (const item of page.body['items'] as Record<string, any>[])
      if (item['correlationId'] === conversationId) types.push(item['type']);
    cursor = page.body['nextCursor'] as string | null;
  }
  return { types, commands: await world.storedCommands(conversationId) };
}

function expectOnce({ types, commands }: Told, story: Story): void {
  const count = (type: string) => types.filter((one) => one === type).length;
  const ran = story === 'run' || story === 'each' ? 1 : 0;
  expect({
    requested: count('ToolApprovalRequested'),
    decided: count('ToolApprovalDecided'),
    used: count('ToolExecutionStarted'),
    revoked: count('ToolApprovalRevoked'),
    outcomes: count('ToolExecutionSucceeded') + count('ToolExecutionFailed'),
    ended: count('TurnEnded'),
    commands,
  }).toEqual({
    requested: 1,
    decided: 1,
    used: ran,
    revoked: story === 'revoke' ? 1 : 0,
    outcomes: ran,
    ended: 1,
    // Released each by itself, a call has its own continuation, and the turn another.
    commands: { run: 1, each: 2, revoke: 1, cancel: 0, expire: 1 }[story],
  });
}
