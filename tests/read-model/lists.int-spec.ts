import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant, Tenant } from '#contracts/ids';
import { APPROVAL_STATUSES, TURN_STATUSES } from '#contracts/statuses';
import { decodeFact } from '#event-log/codec';
import { Unavailable } from '#decider/unavailable';
import { evolveApproval, NEW_APPROVAL } from '#fold/approval';
import { approvalStatus, turnStatus } from '#fold/status';
import { evolveTurn, UNKNOWN_TURN } from '#fold/turn';
import { dueReader } from '../../apps/approval-service/src/projections/due/due.query.js';
import { listApprovals, type ListApprovals } from '../../apps/gateway/src/lists/approvals.query.js';
import { approvalsChangedSince } from '../../apps/gateway/src/lists/changes.query.js';
import { listGrants } from '../../apps/gateway/src/lists/grants.query.js';
import { newestCalls } from '../../apps/gateway/src/lists/newest-calls.query.js';
import { listParked } from '../../apps/gateway/src/lists/parked.query.js';
import { ReadModel } from '../../apps/gateway/src/lists/read-model.js';
import { stats } from '../../apps/gateway/src/lists/stats.query.js';
import { listTokens } from '../../apps/gateway/src/lists/tokens.query.js';
import { listTurns, readyTurnKeys } from '../../apps/gateway/src/lists/turns.query.js';
import { eventually, project, projectAll, testDatabase, type Running, type TestDatabase } from './database.js';
import * as story from './facts.js';
import { at, callOf, grantId, TENANT, TestLog, turnOf } from './facts.js';

const OTHER = 'other' as Tenant;
const NOW = at(1_000);

/** Every status that an approval or a turn can have, somewhere in time. */
const log = new TestLog().tell(
  story.opened,
  story.requested('pending', { when: 1, tool: 'Send_50%_off', args: { password: 'hunter2', note: 'hi' } }),
  story.requested('denied', { when: 2, tool: 'pay', server: 'bank', agent: 'payer', pool: 'money' }),
  story.decided('denied', 'denied', { when: 12 }),
  story.requested('ready', { when: 3, calls: 2 }),
  story.decided('ready', 'approved', { when: 20 }),
  story.decided('ready', 'responded', { index: 1, when: 30 }),
  story.requested('working', { when: 4 }),
  story.decided('working'),
  story.resumed('working', { until: 5_000 }),
  story.started('working'),
  story.requested('doubt', { when: 5 }),
  story.decided('doubt'),
  story.resumed('doubt', { until: 180 }),
  story.started('doubt'),
  story.requested('taken-over', { when: 6 }),
  story.decided('taken-over'),
  story.resumed('taken-over'),
  story.started('taken-over'),
  story.resumed('taken-over', { n: 2, attempt: 2, when: 200, until: 5_000 }),
  story.requested('given-back', { when: 7 }),
  story.decided('given-back'),
  story.resumed('given-back', { until: 5_000 }),
  story.started('given-back'),
  story.givenBack('given-back', { n: 2 }),
  story.requested('waiting-call', { when: 9, calls: 2, release: 'each' }),
  story.decided('waiting-call'),
  story.requested('each', { when: 8, calls: 4, release: 'each' }),
  story.decided('each'),
  story.resumed('each', { index: 0, until: 4_000 }),
  story.started('each'),
  story.decided('each', 'approved', { index: 1 }),
  story.revoked('each', { index: 1 }),
  story.decided('each', 'approved', { index: 2 }),
  story.lapsed('each', { index: 2 }),
  story.decided('each', 'approved', { index: 3 }),
  story.requested('done', { when: 9, calls: 2 }),
  story.decided('done'),
  story.decided('done', 'approved', { index: 1 }),
  story.resumed('done'),
  story.started('done'),
  story.succeeded('done'),
  story.started('done', { index: 1 }),
  story.failed('done', { index: 1 }),
  story.ended('done'),
  story.requested('expired', { when: 10 }),
  story.decided('expired', 'expired', { when: 900 }),
  story.requested('cancelled', { when: 11 }),
  story.decided('cancelled', 'cancelled', { when: 40 }),
  story.ended('cancelled', 'cancelled'),
  story.requested('elsewhere', { when: 12, tenant: OTHER }),
  story.issued('ada'),
  story.issued('bob', 5),
  story.tokenRevoked('ada'),
  story.grantIssued('used-up', { issuedAt: 10, maxUses: 1, server: 'gmail' }, 'ready'),
  story.redeemed('used-up', 'done'),
  story.grantIssued('ended', { issuedAt: 30 }),
  story.grantEnded('ended', { when: 40, reason: 'a \u0000 reason' }),
  story.grantIssued('expired', { issuedAt: 20, expiresAt: at(999) }),
  story.grantIssued('active', {
    issuedAt: 30,
    expiresAt: at(1_001),
    agent: 'payer',
    conversationId: 'conv-1',
    when: 'args.n < 3',
  }),
  story.grantIssued('theirs', { issuedAt: 25, tenant: OTHER }),
  story.grantEnded('theirs', { when: 26, tenant: OTHER }),
);

let database: TestDatabase;
let reader: ReadModel;
let running: Running;
beforeAll(async () => {
  database = await testDatabase();
  reader = new ReadModel(database.url);
  running = project(log, database.pool);
  await eventually(() => reader.waitFor(log.lastSeq, 5_000), 'projected');
});
afterAll(async () => {
  await running.stop();
  await reader.close();
  await database.drop();
});

const list = (more: Partial<ListApprovals> = {}) =>
  listApprovals(reader, { tenant: TENANT, now: NOW, limit: 100, ...more });
const turnsOf = (items: readonly { readonly turnId: string }[]) => items.map(({ turnId }) => turnId);
const found = async (more: Partial<ListApprovals>) => turnsOf((await list(more)).items);

/** What the fold says of each approval and turn at a moment. */
function folded(now: Instant) {
  const facts = log.raws.map((raw) => decodeFact<HoldpointEvent>(raw));
  const requests = facts.flatMap(({ event, tenant }) =>
    event.type === 'ToolApprovalRequested' && tenant === TENANT ? [event.data] : [],
  );
  return requests.flatMap(({ turnKey, turnId, toolCalls }) => {
    const turn = facts.filter(({ subject }) => subject.includes(turnKey)).reduce(evolveTurn, UNKNOWN_TURN);
    if (turn.state === 'unknown') return [];
    const approvals = toolCalls.map((_, index) =>
      facts
        .filter(({ subject }) => subject.includes(`.${callOf(turnId, index)}.`))
        .reduce(evolveApproval, NEW_APPROVAL),
    );
    return [
      {
        turnId,
        status: turnStatus(turn, approvals, now),
        calls: approvals.map((one) => approvalStatus(turn, one, now)),
      },
    ];
  });
}

describe('statuses in SQL', () => {
  it.each([100, 150, 185, 1_000, 4_500, 6_000])('are those of the fold after %i seconds', async (seconds) => {
    const now = at(seconds);
    const approvals = (await list({ now })).items;
    const turns = (await listTurns(reader, { tenant: TENANT, now, limit: 100 })).items;
    for (const { turnId, status, calls } of folded(now)) {
      expect([turnId, turns.find((turn) => turn.turnId === turnId)?.status]).toEqual([turnId, status]);
      expect([turnId, ...approvals.filter((one) => one.turnId === turnId).map((one) => one.status)]).toEqual([
        turnId,
        ...calls,
      ]);
    }
  });

  it.each(APPROVAL_STATUSES)('filter approvals that are %s', async (status) => {
    const all = (await list()).items.filter((item) => item.status === status);
    expect((await list({ status })).items).toEqual(all);
    expect(all.length > 0).toBe(status !== 'held');
  });

  it.each(TURN_STATUSES)('filter turns that are %s', async (status) => {
    const ids = folded(NOW)
      .filter((turn) => turn.status === status)
      .map(({ turnId }) => turnId);
    expect(turnsOf((await listTurns(reader, { tenant: TENANT, now: NOW, limit: 100, status })).items).sort()).toEqual(
      ids.sort(),
    );
  });
});

describe('the list of approvals', () => {
  it('is oldest first, page by page, each once', async () => {
    const whole = (await list()).items;
    const paged = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await list({ limit: 3, cursor });
      paged.push(...page.items);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(whole);
    expect(whole.map(({ requestedAt }) => requestedAt)).toEqual(whole.map(({ requestedAt }) => requestedAt).sort());
    expect(whole.filter(({ turnId }) => turnId === 'each').map(({ approvalId }) => approvalId)).toEqual(
      [0, 1, 2, 3].map((index) => callOf('each', index)),
    );
  });
  it('shows what people need, without secrets', async () => {
    const [item] = (await list({ status: 'pending' })).items;
    expect(item).toMatchObject({
      approvalId: callOf('pending'),
      toolName: 'Send_50%_off',
      args: { password: '[redacted]', note: 'hi' },
      argsOmitted: false,
      description: null,
      requestedAt: at(1),
      expiresAt: at(86_401),
      decision: null,
      seq: 2,
    });
    expect((await list({ status: 'denied' })).items[0]?.decision).toEqual({
      decision: 'denied',
      by: 'ada@example.com',
      at: at(12),
    });
  });
  it('finds any part of a name or id, in any case, and takes wildcards as they are', async () => {
    expect(await found({ q: 'END_50%' })).toEqual(['pending']);
    expect(await found({ q: 's_nd' })).toEqual([]);
    expect(await found({ q: '%' })).toEqual(['pending']);
    expect(await found({ q: 'BANK' })).toEqual(['denied']);
    expect(await found({ q: callOf('doubt').slice(4, 20) })).toEqual(['doubt']);
    expect(await found({ q: 'a\u0000b' })).toEqual([]);
  });
  it('is narrowed by tool, agent, conversation, age and tenant', async () => {
    expect(await found({ tool: 'pay' })).toEqual(['denied']);
    expect(await found({ agent: 'payer' })).toEqual(['denied']);
    expect(await found({ conversationId: 'another' })).toEqual([]);
    expect(await found({ olderThanSeconds: 998 })).toEqual(['pending', 'denied']);
    expect(await found({ tenant: OTHER })).toEqual(['elsewhere']);
  });
  it('shows an agent its own alone', async () => {
    expect(await found({ agentScope: { agent: 'payer' } })).toEqual(['denied']);
    expect(await found({ agentScope: { pools: ['money', 'none'] } })).toEqual(['denied']);
    expect(await found({ agentScope: { pools: [] } })).toEqual([]);
  });
  it.each(['', '!!', 'bm90IGpzb24', Buffer.from('["2026","x"]').toString('base64url')])(
    'refuses the cursor "%s"',
    async (cursor) => {
      await expect(list({ cursor })).rejects.toThrow('cursor');
    },
  );
});

describe('turns that are ready', () => {
  it('come oldest first by when they became so', async () => {
    const page = await listTurns(reader, { tenant: TENANT, now: NOW, limit: 100, status: 'ready' });
    expect(page.items.map(({ turnId, readySince }) => [turnId, readySince])).toEqual([
      ['denied', at(12)],
      ['ready', at(30)],
      ['given-back', at(150)],
      ['doubt', at(180)],
      ['expired', at(900)],
    ]);
    const second = await listTurns(reader, { tenant: TENANT, now: NOW, limit: 2, status: 'ready' });
    const rest = await listTurns(reader, {
      tenant: TENANT,
      now: NOW,
      limit: 9,
      status: 'ready',
      cursor: second.nextCursor ?? '',
    });
    expect(turnsOf([...second.items, ...rest.items])).toEqual(turnsOf(page.items));
  });
  it('are given to the reconciler once old enough, page by page, calls of an open turn that wait among them', async () => {
    const all = await readyTurnKeys(reader, { now: NOW, olderThanSeconds: 850, after: '', limit: 100 });
    const keys = new Set(all.map(({ turnKey }) => turnKey));
    for (const name of ['denied', 'ready', 'given-back', 'waiting-call']) expect(keys).toContain(turnOf(name));
    expect(keys).not.toContain(turnOf('expired'));
    const first = await readyTurnKeys(reader, { now: NOW, olderThanSeconds: 850, after: '', limit: 2 });
    const rest = await readyTurnKeys(reader, {
      now: NOW,
      olderThanSeconds: 850,
      after: first[1]?.turnKey ?? '',
      limit: 100,
    });
    expect([...first, ...rest]).toEqual(all);
  });
});

describe('the list of grants', () => {
  const grants = (more: Partial<Parameters<typeof listGrants>[1]> = {}) =>
    listGrants(reader, { tenant: TENANT, now: NOW, limit: 100, ...more });
  /** Two that were issued at one moment are in the order of their ids. */
  const together = ['ended', 'active'].map((name) => grantId(name)).sort((a, b) => (a < b ? 1 : -1));

  it('is newest first, page by page, each once', async () => {
    const { items, nextCursor } = await grants();
    const ids = [...together, grantId('expired'), grantId('used-up')];
    expect(items.map((item) => item.grantId)).toEqual(ids);
    expect(nextCursor).toBeNull();
    const paged = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await grants({ limit: 1, cursor });
      paged.push(...page.items);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(items);
  });
  it('shows what each allows, and what became of it', async () => {
    const { items } = await grants();
    const [usedUp, ended, expired, active] = ['used-up', 'ended', 'expired', 'active'].map((name) =>
      items.find((item) => item.grantId === grantId(name)),
    );
    expect(usedUp).toMatchObject({
      scope: { tool: 'send_email', server: 'gmail' },
      approvalId: callOf('ready'),
      issuedBy: 'ada@example.com',
      issuedAt: at(10),
      status: 'used-up',
      used: 1,
      maxUses: 1,
      end: null,
    });
    expect(ended).toMatchObject({
      scope: { tool: 'send_email' },
      approvalId: null,
      status: 'ended',
      end: { by: 'olga@example.com', at: at(40), reason: 'a \u0000 reason' },
    });
    expect(expired).toMatchObject({ status: 'expired', expiresAt: at(999), used: 0 });
    expect(active?.status).toBe('active');
    expect(active?.scope).toEqual({
      tool: 'send_email',
      agent: 'payer',
      conversationId: 'conv-1',
      when: 'args.n < 3',
    });
  });
  it('is of one tenant', async () => {
    expect((await grants({ tenant: OTHER })).items).toMatchObject([
      { grantId: grantId('theirs', OTHER), status: 'ended' },
    ]);
    expect((await grants({ tenant: 'nobody' as Tenant })).items).toEqual([]);
  });
  it('refuses a cursor that it did not give', () => expect(grants({ cursor: '!!' })).rejects.toThrow('cursor'));
});

describe('the newest calls', () => {
  const calls = (more: Partial<Parameters<typeof newestCalls>[1]> = {}) =>
    newestCalls(reader, { tenant: TENANT, most: 100, ...more });

  it('are the newest first, as many as were asked for', async () => {
    const oldestFirst = (await list()).items.map(({ approvalId }) => approvalId);
    expect(await calls()).toEqual(oldestFirst.reverse());
    expect(await calls({ most: 3 })).toEqual(oldestFirst.slice(0, 3));
  });
  it('are of one tool, on its server or on none', async () => {
    expect(await calls({ tool: { tool: 'pay', server: 'bank' } })).toEqual([callOf('denied')]);
    expect(await calls({ tool: { tool: 'pay' } })).toEqual([]);
    expect(await calls({ tool: { tool: 'pay', server: 'gmail' } })).toEqual([]);
  });
  it('are of one tenant', async () => {
    expect(await calls({ tenant: OTHER })).toEqual([callOf('elsewhere', 0, OTHER)]);
    expect(await calls({ tenant: 'nobody' as Tenant })).toEqual([]);
  });
});

describe('the other lists', () => {
  it('show tokens without secrets', async () => {
    const { items } = await listTokens(reader, { tenant: TENANT, limit: 10 });
    expect(items).toMatchObject([
      { name: 'ada', roles: ['approver'], groups: [], revokedAt: at(100) },
      { name: 'bob', revokedAt: null },
    ]);
    const first = await listTokens(reader, { tenant: TENANT, limit: 1 });
    expect((await listTokens(reader, { tenant: TENANT, limit: 1, cursor: first.nextCursor ?? '' })).items).toEqual(
      items.slice(1),
    );
    expect(JSON.stringify(items)).not.toContain('0'.repeat(64));
  });
  it('count what is open, and how long decisions took', async () => {
    expect(await stats(reader, { tenant: TENANT, now: NOW, logLastSeq: log.lastSeq + 3 })).toMatchObject({
      pending: 2,
      held: 0,
      inDoubt: 3,
      readyNotResumed: 5,
      oldestPendingAt: at(1),
      decisionSeconds: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
      byTool: [
        { tool: 'send_email', pending: 1 },
        { tool: 'Send_50%_off', pending: 1, decided: 0 },
        { tool: 'pay', pending: 0, decided: 1 },
      ],
      byAgent: [
        { agent: 'billing-agent', pending: 2 },
        { agent: 'payer', pending: 0, decided: 1 },
      ],
      projectionLag: 3,
    });
    const empty = await stats(reader, { tenant: 'nobody' as Tenant, now: NOW, logLastSeq: 0 });
    expect(empty).toMatchObject({
      pending: 0,
      oldestPendingAt: null,
      decisionSeconds: { p50: null },
      byTool: [],
      projectionLag: 0,
    });
  });
  it('give the deadlines that have passed, the oldest first', async () => {
    const due = await dueReader(database.pool).dueBy(at(86_460), 10);
    expect(due[0]).toEqual({ tenant: TENANT, approvalId: callOf('pending'), what: 'expiry' });
    expect(due.map(({ what }) => what)).toEqual(['expiry', 'expiry', 'expiry', 'lapse', 'lapse', 'lapse']);
  });
});

describe('changes', () => {
  it('are each approval once, with the fact that changed it last', async () => {
    const { changed, upTo } = await approvalsChangedSince(reader, { after: 0, now: NOW, limit: 15 });
    expect(upTo).toBe(15);
    expect(changed.map(({ seq, approval }) => [seq, approval.turnId, approval.status])).toEqual([
      [2, 'pending', 'pending'],
      [4, 'denied', 'denied'],
      [6, 'ready', 'approved'],
      [7, 'ready', 'responded'],
      [11, 'working', 'executing'],
      [15, 'doubt', 'in-doubt'],
    ]);
    expect((await approvalsChangedSince(reader, { after: 15, now: NOW, limit: 5 })).changed).toMatchObject([
      { seq: 20, approval: { turnId: 'taken-over' } },
    ]);
  });
  it('are of one tenant where one is asked for, and end where the read model does', async () => {
    const { changed, upTo } = await approvalsChangedSince(reader, { after: 0, now: NOW, limit: 1_000, tenant: OTHER });
    expect(changed.map(({ approval }) => approval.turnId)).toEqual(['elsewhere']);
    expect(upTo).toBe(log.lastSeq);
    expect(await approvalsChangedSince(reader, { after: upTo, now: NOW, limit: 10 })).toEqual({ changed: [], upTo });
  });
});

describe('reading one’s own write', () => {
  it('waits for the fact and no longer', async () => {
    const next = log.lastSeq + 1;
    expect(await reader.waitFor(next, 50)).toBe(false);
    const heard: number[] = [];
    const off = reader.onProjected((seq) => heard.push(seq));
    const waiting = reader.waitFor(next, 5_000);
    log.tell(story.requested('new', { when: 999, tenant: OTHER }));
    expect(await waiting).toBe(true);
    expect(heard).toEqual([next]);
    off();
    expect(await found({ tenant: OTHER })).toEqual(['elsewhere', 'new']);
  });
});

describe('with Postgres away', () => {
  it('a list says so within seconds, and all goes on when it is back', async () => {
    await database.admin('ALTER DATABASE $database ALLOW_CONNECTIONS false');
    await database.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$database'`);
    await expect(list()).rejects.toThrow(Unavailable);
    await database.admin('ALTER DATABASE $database ALLOW_CONNECTIONS true');
    log.tell(story.requested('after', { when: 999, tenant: OTHER }));
    expect(await reader.waitFor(log.lastSeq, 20_000)).toBe(true);
    expect(await found({ tenant: OTHER })).toContain('after');
  });
  it('nobody there at all says so too', async () => {
    const nowhere = new ReadModel('postgres://holdpoint@127.0.0.1:9/holdpoint');
    await expect(listParked(nowhere, { tenant: TENANT, limit: 1 })).rejects.toThrow(Unavailable);
    expect(await nowhere.waitFor(1, 10)).toBe(false);
    await nowhere.close();
  });
});

describe('a call of an open turn that began', () => {
  it('is given to the reconciler while it is in doubt, and no longer', async () => {
    const begunIn = await testDatabase();
    const gateway = new ReadModel(begunIn.url);
    try {
      const begin = (name: string) => [
        story.requested(name, { calls: 2, release: 'each' as const }),
        story.decided(name),
        story.resumed(name, { index: 0, until: 180 }),
        story.started(name),
      ];
      const told = new TestLog().tell(story.opened, ...begin('left'), ...begin('ran'), story.succeeded('ran'));
      await projectAll(told, begunIn.pool);
      const waiting = async (seconds: number) =>
        (await readyTurnKeys(gateway, { now: at(seconds), olderThanSeconds: 5, after: '', limit: 9 })).map(
          ({ turnKey }) => turnKey,
        );
      expect([await waiting(179), await waiting(181)]).toEqual([[], [turnOf('left')]]);
    } finally {
      await gateway.close();
      await begunIn.drop();
    }
  });
});

describe('what is parked', () => {
  it('is listed an approval at a time, with what stopped it', async () => {
    const parkedIn = await testDatabase();
    const gateway = new ReadModel(parkedIn.url);
    try {
      await parkedIn.pool.query(`ALTER TABLE approvals ADD CONSTRAINT poison CHECK (decision <> 'denied')`);
      const told = new TestLog().tell(story.requested('t-1'), story.decided('t-1', 'denied'), story.revoked('t-1'));
      await projectAll(told, parkedIn.pool);
      expect((await listParked(gateway, { tenant: TENANT, limit: 10 })).items).toEqual([
        {
          approvalId: callOf('t-1'),
          events: 2,
          error: expect.stringContaining('poison'),
          type: 'ToolApprovalDecided',
          at: at(60),
          seq: 2,
        },
      ]);
    } finally {
      await gateway.close();
      await parkedIn.drop();
    }
  });
});
