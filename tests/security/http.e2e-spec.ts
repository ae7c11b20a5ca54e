import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { api, type Api } from '../support/api.js';
import { approve, call, openTurn, pullOne, resume } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

const ROLES = ['agent', 'approver', 'operator', 'auditor', 'admin'] as const;
type Role = (typeof ROLES)[number];
const AP = `ap_${'a'.repeat(26)}_0`;
const TN = `tn_${'a'.repeat(26)}`;
const DIGEST = `sha256:${'0'.repeat(64)}`;

/** Where the secret of `hp_<tokenId>_<secret>` begins. */
const SECRET_AT = `hp_tk_${'a'.repeat(26)}_`.length;

/** Who may ask at all (contract section 2). An admin may all; where one may, the answer may still be that there is nothing. */
const WHO_MAY: [string, string, Record<string, unknown> | undefined, Role[]][] = [
  ['POST', '/v1/turns', { conversationId: 'c', agent: { id: 'a' }, toolCalls: [call('c')] }, ['agent']],
  ['POST', '/v1/turns/t/cancel', { conversationId: 'c' }, ['agent']],
  ['POST', '/v1/turns/t/resume', { conversationId: 'c', workerId: 'w' }, ['agent']],
  ['POST', '/v1/turns/t/end', { conversationId: 'c', attempt: 1, status: 'completed' }, ['agent']],
  ['POST', '/v1/turns/t/redrive', { conversationId: 'c' }, ['operator']],
  ['GET', '/v1/turns?status=ready', undefined, ['operator', 'auditor']],
  ['POST', '/v1/pools/p/continuations/pull', { workerId: 'w', waitSeconds: 0 }, ['agent']],
  ['POST', `/v1/continuations/${TN}/resume`, { workerId: 'w' }, ['agent']],
  ['POST', `/v1/continuations/${TN}/extend`, { workerId: 'w', attempt: 1 }, ['agent']],
  ['POST', `/v1/continuations/${TN}/give-back`, { workerId: 'w', attempt: 1 }, ['agent']],
  ['POST', `/v1/continuations/${TN}/done`, { workerId: 'w', attempt: 1 }, ['agent']],
  ['POST', `/v1/approvals/${AP}/use`, { workerId: 'w', attempt: 1, argsDigest: DIGEST }, ['agent']],
  ['POST', `/v1/approvals/${AP}/outcome`, { workerId: 'w', attempt: 1, ok: true }, ['agent']],
  ['POST', `/v1/approvals/${AP}/decision`, { decision: 'approve' }, ['approver']],
  ['POST', '/v1/decisions', { items: [{ approvalId: AP, decision: 'approve' }] }, ['approver']],
  ['POST', `/v1/approvals/${AP}/revoke`, { reason: 'r' }, ['approver']],
  ['DELETE', `/v1/approvals/${AP}/vote`, undefined, ['approver']],
  ['POST', `/v1/approvals/${AP}/settle`, { ok: true, reason: 'r' }, ['operator']],
  ['GET', '/v1/approvals', undefined, ['agent', 'approver', 'operator', 'auditor']],
  ['GET', `/v1/approvals/${AP}`, undefined, ['agent', 'approver', 'operator', 'auditor']],
  ['GET', '/v1/turns/t?conversationId=c', undefined, ['agent', 'approver', 'operator', 'auditor']],
  ['GET', '/v1/conversations/c/events', undefined, ['agent', 'approver', 'operator', 'auditor']],
  ['GET', '/v1/stream', undefined, ['approver', 'operator', 'auditor']],
  ['GET', '/v1/stats', undefined, ['approver', 'operator', 'auditor']],
  ['GET', '/v1/parked', undefined, ['operator', 'auditor']],
  ['POST', `/v1/parked/${AP}/unpark`, undefined, ['operator']],
  ['GET', '/v1/me', undefined, ['agent', 'approver', 'operator', 'auditor']],
  ['GET', '/v1/events', undefined, ['auditor']],
  ['POST', '/v1/tokens', { name: 'n', subject: 's', roles: ['agent'] }, []],
  ['GET', '/v1/tokens', undefined, []],
  ['POST', `/v1/tokens/tk_${'a'.repeat(26)}/revoke`, {}, []],
];

describe('the door', () => {
  let world: World;
  const by = {} as Record<Role, Api>;
  beforeAll(async () => {
    world = await World.start({ env: { HOLDPOINT_LOG_LEVEL: 'trace' } });
    for (const role of ROLES) by[role] = await world.as(`${role}@example.com`, { roles: [role] });
  });
  afterAll(() => world.stop());

  it.each(WHO_MAY)('%s %s is open to whom it should be, and to an admin', async (method, path, body, roles) => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    for (const role of ROLES) {
      const answer = await fetch(world.url + path, {
        method,
        headers: { authorization: `Bearer ${by[role].token}`, ...json },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      await answer.body?.cancel();
      expect({ role, open: answer.status !== 403 }).toEqual({ role, open: role === 'admin' || roles.includes(role) });
      expect(answer.status).toBeLessThan(500);
    }
  });

  it('an operator sees that there are arguments, and not what they are; an auditor sees all', async () => {
    const turn = await openTurn(by.agent, {
      toolCalls: [call('c', { secret: 'only-for-approvers' })],
      context: { note: 'only-for-approvers' },
    });
    const seen = async (role: Role) =>
      JSON.stringify((await by[role].get(`/v1/approvals/${turn.approvalIds[0]}`)).body);
    expect(await seen('operator')).not.toContain('only-for-approvers');
    expect(await seen('approver')).toContain('only-for-approvers');
    expect(await seen('auditor')).toContain('only-for-approvers');
  });

  it('a list shows no secrets, who decides does', async () => {
    const turn = await openTurn(by.agent, { toolCalls: [call('c', { password: 'hunter2-in-full' })] });
    const list = await by.approver.get(`/v1/approvals?conversationId=${turn.conversationId}&after=${turn.seq}`);
    expect(list.body['items']).toHaveLength(1);
    expect(JSON.stringify(list.body)).not.toContain('hunter2-in-full');
    expect(JSON.stringify((await by.approver.get(`/v1/approvals/${turn.approvalIds[0]}`)).body)).toContain(
      'hunter2-in-full',
    );
  });

  it('a token that has expired, or was revoked, opens nothing', async () => {
    const short = await world.as('short', { roles: ['agent'], expiresInSeconds: 1 });
    expect((await short.get('/v1/me')).status).toBe(200);
    await sleep(1_200);
    expect((await short.get('/v1/me')).status).toBe(401);
    const issued = await world.admin().post('/v1/tokens', { name: 'gone', subject: 'gone', roles: ['agent'] });
    expect((await world.admin().post(`/v1/tokens/${String(issued.body['id'])}/revoke`)).status).toBe(200);
    const gone = await fetch(`${world.url}/v1/me`, {
      headers: { authorization: `Bearer ${String(issued.body['token'])}` },
    });
    expect(gone.status).toBe(401);
  });

  it('a token that was just used opens nothing from its revocation on', async () => {
    const issued = await world.admin().post('/v1/tokens', { name: 'stolen', subject: 'stolen', roles: ['admin'] });
    const stolen = api(world.url, String(issued.body['token']));
    const more = { name: 'more', subject: 'more', roles: ['admin'] };
    expect((await stolen.post('/v1/tokens', more)).status).toBe(201);
    expect((await world.admin().post(`/v1/tokens/${String(issued.body['id'])}/revoke`)).status).toBe(200);
    expect((await stolen.post('/v1/tokens', { ...more, name: 'again' })).status).toBe(401);
    expect((await stolen.get('/v1/me')).status).toBe(401);
  });

  it('a token that is bound to an agent, servers and pools reaches no other', async () => {
    const bound = await world.as('bound', { roles: ['agent'], agent: 'a', servers: ['gmail'], pools: ['mine'] });
    const open = (change: Record<string, unknown>) =>
      bound.post('/v1/turns', {
        conversationId: 'b',
        agent: { id: 'a' },
        pool: 'mine',
        toolCalls: [call('c')],
        ...change,
      });
    expect((await open({})).status).toBe(201);
    expect((await open({ agent: { id: 'b' } })).status).toBe(403);
    expect((await open({ pool: 'default' })).status).toBe(403);
    expect((await open({ toolCalls: [{ ...call('c'), server: 'bank' }] })).status).toBe(403);
    expect((await bound.post('/v1/pools/default/continuations/pull', { workerId: 'w', waitSeconds: 0 })).status).toBe(
      403,
    );
    const others = await openTurn(by.agent);
    expect((await bound.get(`/v1/turns/${others.turnId}?conversationId=${others.conversationId}`)).status).toBe(403);
    expect(
      (await bound.post(`/v1/turns/${others.turnId}/cancel`, { conversationId: others.conversationId })).status,
    ).toBe(403);
  });

  it('what one token took, another cannot use, extend, report or end', async () => {
    const other = await world.agent('other-worker');
    const turn = await openTurn(by.agent, { pool: 'taken' });
    await approve(by.approver, turn.approvalIds[0]);
    const offer = await pullOne(by.agent, 'w-1', { pool: 'taken' });
    await resume(by.agent, offer['leaseId'], 'w-1');
    const mine = { workerId: 'w-1', attempt: 1 };
    const argsDigest = offer['results'][0].argsDigest as string;
    const tries = [
      other.post(`/v1/approvals/${turn.approvalIds[0]}/use`, { ...mine, argsDigest }),
      other.post(`/v1/continuations/${offer['leaseId']}/extend`, mine),
      other.post(`/v1/continuations/${offer['leaseId']}/give-back`, mine),
      other.post(`/v1/turns/${turn.turnId}/end`, {
        conversationId: turn.conversationId,
        attempt: 1,
        status: 'completed',
      }),
    ];
    for (const { status, body } of await Promise.all(tries))
      expect({ status, type: body['type'] }).toEqual({ status: 409, type: 'urn:holdpoint:problem:stale-attempt' });
    const used = await by.agent.post(`/v1/approvals/${turn.approvalIds[0]}/use`, { ...mine, argsDigest });
    expect(used.status).toBe(200);
    const report = { ...mine, ok: true, result: 'forged' };
    expect(await other.post(`/v1/approvals/${turn.approvalIds[0]}/outcome`, report)).toMatchObject({
      status: 409,
      body: { type: 'urn:holdpoint:problem:stale-attempt' },
    });
  });

  it('every answer forbids guessing, framing and keeping', async () => {
    const answer = await fetch(`${world.url}/v1/me`);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('cache-control')).toContain('no-store');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('metrics are on their own port, and name no tenant', async () => {
    await world.as('m', { roles: ['agent'] }, 'acme-tenant');
    const metrics = await (await fetch(`${world.metricsUrl}/metrics`)).text();
    expect(metrics).toContain('process_cpu');
    expect(metrics).not.toContain('acme-tenant');
    expect((await fetch(`${world.url}/metrics`)).status).toBe(404);
  });

  it('no token, argument, reason or result is ever logged, however much is', async () => {
    const marked = 'marked-argument-7431';
    const turn = await openTurn(by.agent, {
      pool: 'logged',
      context: { marked },
      toolCalls: [call('c', { text: marked }), call('d', { text: marked })],
    });
    const [first, second] = turn.approvalIds;
    await by.approver.post(`/v1/approvals/${first}/decision`, { decision: 'deny', reason: marked });
    await by.approver.post(`/v1/approvals/${second}/decision`, {
      decision: 'approve',
      updatedInput: { text: `${marked}-2` },
    });
    const offer = await pullOne(by.agent, 'w', { pool: 'logged' });
    await resume(by.agent, offer['leaseId'], 'w');
    const mine = { workerId: 'w', attempt: 1 };
    const { argsDigest } = offer['results'][1];
    expect((await by.agent.post(`/v1/approvals/${second}/use`, { ...mine, argsDigest })).status).toBe(200);
    expect((await by.agent.post(`/v1/approvals/${second}/outcome`, { ...mine, ok: false, error: marked })).status).toBe(
      200,
    );
    for (const body of [{ text: marked }, { conversationId: marked.repeat(20) }, { toolCalls: [{ args: marked }] }])
      expect((await by.agent.post('/v1/turns', body)).status).toBe(400);
    await eventually(() => Promise.resolve(expect(readFileSync(world.logFile, 'utf8')).toContain('"level":30')));
    const logged = readFileSync(world.logFile, 'utf8');
    const secrets = ROLES.map((role) => by[role].token.slice(SECRET_AT));
    for (const word of [marked, world.admin().token, ...secrets])
      expect({ word, isLogged: logged.includes(word) }).toEqual({ word, isLogged: false });
  });
});
