import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '#tools/test-servers';
import type { Api } from '../support/api.js';
import { decide } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

let world: World;
let agent: Api;
let ada: Api;
let olga: Api;
const running: ChildProcess[] = [];
beforeAll(async () => {
  world = await World.start({ env: { HOLDPOINT_LEASE_SECONDS: '5' } });
  [agent, ada, olga] = await Promise.all([
    world.agent(),
    world.approver('ada'),
    world.as('olga', { roles: ['operator'] }),
  ]);
});
afterEach(() => running.splice(0).forEach((child) => void child.kill('SIGKILL')));
afterAll(() => world.stop());

/** Processes that share a ledger, and a conversation. */
function office() {
  const ledger = join(mkdtempSync(join(tmpdir(), 'holdpoint-sdk-')), 'ledger');
  const conversation = `conv-${randomUUID().slice(0, 8)}`;
  const start = (role: 'holder' | 'worker', dies = '') => {
    const env = {
      URL: world.url,
      TOKEN: agent.token,
      LEDGER: ledger,
      CONVERSATION: conversation,
      ROLE: role,
      DIES: dies,
    };
    const child = spawn(process.execPath, [join(ROOT, 'tests', 'sdk', 'agent-process.mjs')], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    running.push(child);
    return child;
  };
  const lines = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').slice(0, -1) : []);
  const runs = () => lines().filter((line) => line.startsWith('ran')).length;
  const turn = async () => (await agent.get(`/v1/turns/t-1?conversationId=${conversation}`)).body;
  return { conversation, start, lines, runs, turn };
}
type Office = ReturnType<typeof office>;

const died = (child: ChildProcess) =>
  eventually(() => Promise.resolve(expect(child.signalCode).toBe('SIGKILL')), 60_000);

async function approved({ conversation }: Office): Promise<string> {
  let id = '';
  await eventually(async () => {
    const { body } = await ada.get(`/v1/approvals?status=pending&conversationId=${conversation}`);
    id = (body['items'] as { approvalId: string }[])[0]?.approvalId ?? '';
    expect(await decide(ada, id, { decision: 'approve' })).toMatchObject({ status: 200 });
  });
  return id;
}

const completed = (one: Office) =>
  eventually(async () => expect(await one.turn()).toMatchObject({ status: 'completed' }), 60_000);

describe('whoever asked and is killed', () => {
  it('before the turn is opened has asked for nothing', async () => {
    const one = office();
    await died(one.start('holder', 'before /v1/turns$'));
    expect(await one.turn()).toMatchObject({ status: 404 });
    expect(one.lines()).toEqual([]);
  });

  it('before the answer is there asks for the same turn when it is started again', async () => {
    const one = office();
    await died(one.start('holder', 'after /v1/turns$'));
    one.start('holder');
    await approved(one);
    await completed(one);
    expect(one.lines()).toEqual(['ran {"to":"x@example.com"}', 'went on executed']);
  });

  it.each([
    ['while it waits', 'after wait='],
    ['once it has taken the continuation', 'after /t-1/resume$'],
    ['before it takes the right to run', 'before /use$'],
  ])('%s leaves it to a worker of the pool, which runs the tool once', async (_, dies) => {
    const one = office();
    const holder = one.start('holder', dies);
    await approved(one);
    await died(holder);
    one.start('worker');
    await completed(one);
    expect(one.lines()).toEqual(['ran {"to":"x@example.com"}', 'went on executed']);
  });

  it.each([
    ['once it has the right to run', 'after /use$', 0],
    ['while the tool runs', 'in-tool', 1],
    ['before the outcome is reported', 'before /outcome$', 1],
  ])('%s leaves a doubt that a person settles; nobody runs it again', async (_, dies, runs) => {
    const one = office();
    const holder = one.start('holder', dies);
    const id = await approved(one);
    await died(holder);
    one.start('worker');
    await eventually(
      async () => expect((await olga.get(`/v1/approvals/${id}`)).body).toMatchObject({ status: 'in-doubt' }),
      60_000,
    );
    expect(one.runs()).toBe(runs);
    const settled = { ok: runs === 1, ...(runs === 1 ? { result: 'seen' } : { error: 'not sent' }), reason: 'looked' };
    expect(await olga.post(`/v1/approvals/${id}/settle`, settled)).toMatchObject({ status: 200 });
    await completed(one);
    expect(one.runs()).toBe(runs);
    expect(one.lines().at(-1)).toBe(runs === 1 ? 'went on executed' : 'went on failed');
  });

  it('once the outcome is reported leaves the rest to a worker, which does not run it', async () => {
    const one = office();
    const holder = one.start('holder', 'after /outcome$');
    await approved(one);
    await died(holder);
    one.start('worker');
    await completed(one);
    expect(one.lines()).toEqual(['ran {"to":"x@example.com"}', 'went on executed']);
  });
});

describe('a worker that is killed', () => {
  it.each(['after /resume$', 'before /use$', 'after /outcome$', 'before /end$'])(
    '%s is followed by another; the tool runs once and the conversation ends',
    async (dies) => {
      const one = office();
      const toolCalls = [{ toolCallId: 'c', toolName: 'send_email', args: { to: 'x@example.com' } }];
      const body = { conversationId: one.conversation, agent: { id: 'mailer' }, turnId: 't-1', toolCalls };
      expect(await agent.post('/v1/turns', body)).toMatchObject({ status: 201 });
      const first = one.start('worker', dies);
      await approved(one);
      await died(first);
      one.start('worker');
      await completed(one);
      expect(one.runs()).toBe(1);
    },
  );
});
