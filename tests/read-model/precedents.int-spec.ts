import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { digestOf } from '#contracts/canonical';
import { instant, type Tenant } from '#contracts/ids';
import { Unavailable } from '#decider/unavailable';
import { wipe } from '#read-model/wipe';
import {
  precedentsReader,
  type LikeCall,
  type Precedents,
} from '../../apps/approval-service/src/projections/precedents/precedents.query.js';
import { checkpointOf, projectAll, testDatabase, type TestDatabase } from './database.js';
import * as story from './facts.js';
import { callOf, grantId, TENANT, TestLog, type Told } from './facts.js';

const OTHER = 'other' as Tenant;
const LONG_AGO = instant(0);
let clock = 0;
const now = () => clock;
const ARGS = { to: 'x@example.com' };
/** As `requested` asks where nothing else is said; after everything that was told. */
const CALL: LikeCall = {
  tenant: TENANT,
  seq: 0,
  conversationId: 'conv-1',
  agent: 'billing-agent',
  toolName: 'send_email',
  server: 'gmail',
  argsDigest: digestOf(ARGS),
};

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase()));
afterAll(() => database.drop());
afterEach(() => wiped());
beforeEach(() => void (clock = Date.now()));

async function wiped(): Promise<void> {
  const client = await database.pool.connect();
  await wipe(client).finally(() => client.release());
}

/** Asks about calls once the facts are in the read model; each call comes after them, or at its own place. */
async function look(
  facts: readonly Told[],
  ...calls: readonly Partial<LikeCall>[]
): Promise<(Precedents | undefined)[]> {
  await wiped();
  const log = new TestLog().tell(story.opened, ...facts);
  await projectAll(log, database.pool);
  expect(await checkpointOf(database.pool)).toBe(log.lastSeq);
  const read = precedentsReader(database.pool, now);
  return Promise.all(calls.map((call) => read({ ...CALL, seq: log.lastSeq, ...call })));
}
const grantsFor = async (facts: readonly Told[], call: Partial<LikeCall> = {}) =>
  (await look([...facts, story.requested('call')], call))[0]?.grants;
const denialFor = async (facts: readonly Told[], call: Partial<LikeCall> = {}) =>
  (await look([...facts, story.requested('call')], call))[0]?.denial;

describe('grants that a call may be of', () => {
  const mine = (name: string, of: Parameters<typeof story.grantIssued>[1] = {}) =>
    story.grantIssued(name, { server: 'gmail', ...of });

  it('are those of its tool, the oldest first', async () => {
    const facts = [mine('one'), mine('else', { tool: 'pay' }), mine('two'), mine('theirs', { tenant: OTHER })];
    expect(await grantsFor(facts)).toEqual([grantId('one'), grantId('two')]);
  });
  it('name its server, or none where it names none', async () => {
    const facts = [mine('gmail'), mine('other', { server: 'other' }), story.grantIssued('none')];
    expect(await grantsFor(facts)).toEqual([grantId('gmail')]);
    expect(await grantsFor(facts, { server: undefined })).toEqual([grantId('none')]);
  });
  it('are of any agent and conversation, or of its own', async () => {
    const facts = [
      mine('any'),
      mine('agent', { agent: 'billing-agent' }),
      mine('another agent', { agent: 'payer' }),
      mine('conversation', { conversationId: 'conv-1' }),
      mine('another conversation', { conversationId: 'conv-2' }),
      mine('both', { agent: 'billing-agent', conversationId: 'conv-1' }),
    ];
    expect(await grantsFor(facts)).toEqual(['any', 'agent', 'conversation', 'both'].map((name) => grantId(name)));
  });
  it('are not over, and were given before it', async () => {
    const facts = [
      mine('ended'),
      mine('expired', { expiresAt: LONG_AGO }),
      mine('goes on'),
      story.grantEnded('ended'),
      story.requested('earlier'),
      mine('later'),
    ];
    expect(await grantsFor(facts)).toEqual([grantId('goes on'), grantId('later')]);
    const seq = 6;
    expect(await grantsFor(facts, { seq })).toEqual([grantId('goes on')]);
  });
  it('are over by the clock of the service', async () => {
    const facts = [mine('goes on', { expiresAt: instant(100_000) })];
    clock = 99_999;
    expect(await grantsFor(facts)).toEqual([grantId('goes on')]);
    clock = 100_000;
    expect(await grantsFor(facts)).toEqual([]);
  });
  it('are not crowded out by those that were used up', async () => {
    const old = Array.from({ length: 60 }, (_, n) => `old-${n}`);
    const facts = old.flatMap((name) => [mine(name, { maxUses: 1 }), story.redeemed(name, 'earlier')]);
    expect(await grantsFor([...facts, mine('fresh')])).toContain(grantId('fresh'));
  });
  it('are given page by page', async () => {
    const many = Array.from({ length: 60 }, (_, n) => `many-${n}`);
    const facts = many.map((name) => mine(name));
    expect(await grantsFor(facts)).toEqual(many.slice(0, 50).map((name) => grantId(name)));
    expect(await grantsFor(facts, { grantsAfter: 51 })).toEqual(many.slice(50).map((name) => grantId(name)));
  });
  it('are not those that were used up before it', async () => {
    expect(await grantsFor([mine('once', { maxUses: 1 }), story.redeemed('once', 'earlier')])).toEqual([]);
  });
  it('are those that were used up or ended after it, too: whoever took a use for it may have died', async () => {
    const facts = [
      mine('used-up', { maxUses: 1 }),
      mine('ended'),
      story.requested('call'),
      story.redeemed('used-up', 'call'),
      story.grantEnded('ended'),
    ];
    const [found] = await look(facts, { seq: 4 });
    expect(found?.grants).toEqual([grantId('used-up'), grantId('ended')]);
  });
});

describe('a denial of the same call', () => {
  const denied = (turnId: string, asked: story.Asked = {}) => [
    story.requested(turnId, asked),
    story.decided(turnId, 'denied', { tenant: asked.tenant ?? TENANT }),
  ];

  it('is one by a person, or by an earlier denial; the newest', async () => {
    expect(await denialFor(denied('first'))).toBe(callOf('first'));
    const again = [...denied('first'), story.requested('second'), story.deniedAgain('second', 'first')];
    expect(await denialFor(again)).toBe(callOf('second'));
    expect(await denialFor([...again, ...denied('third')])).toBe(callOf('third'));
  });
  it('is none by the policy, by time, or of another kind', async () => {
    const others = [
      story.requested('policy'),
      story.decided('policy', 'denied', { kind: 'policy', by: 'policy' }),
      story.requested('expired'),
      story.decided('expired', 'expired', { kind: 'timer' }),
      story.requested('approved'),
      story.decided('approved'),
      story.requested('responded'),
      story.decided('responded', 'responded'),
    ];
    expect(await denialFor(others)).toBeUndefined();
  });
  it('is of its tenant, conversation, tool, server and arguments', async () => {
    const others = [
      ...denied('tenant', { tenant: OTHER }),
      ...denied('conversation', { conversation: 'conv-2' }),
      ...denied('tool', { tool: 'pay' }),
      ...denied('server', { server: 'other' }),
      ...denied('no-server', { server: null }),
      ...denied('arguments', { args: { to: 'y@example.com' } }),
    ];
    expect(await denialFor(others)).toBeUndefined();
    expect(await denialFor(others, { server: undefined })).toBe(callOf('no-server'));
    expect(await denialFor(others, { conversationId: 'conv-2' })).toBe(callOf('conversation'));
    expect(await denialFor([...others, ...denied('same', { agent: 'payer' })])).toBe(callOf('same'));
  });
  it('comes before the call', async () => {
    const facts = [...denied('before'), ...denied('after')];
    expect(await denialFor(facts, { seq: 4 })).toBe(callOf('before'));
    expect(await denialFor(facts, { seq: 2 })).toBeUndefined();
    expect(await denialFor(facts)).toBe(callOf('after'));
  });
});

describe('asking', () => {
  it('says nothing while the read model is behind the call', async () => {
    const [behind, level] = await look([story.requested('call')], { seq: 3 }, { seq: 2 });
    expect(behind).toBeUndefined();
    expect(level).toEqual({ grants: [] });
    await database.pool.query('TRUNCATE projection_checkpoint');
    expect(await precedentsReader(database.pool, now)({ ...CALL, seq: 2 })).toBeUndefined();
  });

  it('about many calls at once answers each with its own, in few statements', async () => {
    const tools = Array.from({ length: 450 }, (_, n) => `tool-${n}`);
    const given = tools.filter((_, n) => n % 3 === 0);
    const log = new TestLog().tell(
      ...given.map((tool) => story.grantIssued(tool, { tool, server: 'gmail' })),
      story.opened,
    );
    await projectAll(log, database.pool);
    const { pool, statements } = watched();
    const read = precedentsReader(pool, now);
    const found = await Promise.all(tools.map((toolName) => read({ ...CALL, seq: log.lastSeq, toolName })));
    expect(found).toEqual(tools.map((tool, n) => ({ grants: n % 3 === 0 ? [grantId(tool)] : [] })));
    expect(statements).toHaveLength(3);
  });

  it('fails for every call that was asked about with it, and goes on afterwards', async () => {
    await projectAll(new TestLog().tell(story.requested('call')), database.pool);
    const read = precedentsReader(database.pool, now);
    const both = () => Promise.allSettled([read({ ...CALL, seq: 1 }), read({ ...CALL, seq: 1, toolName: 'pay' })]);
    await database.pool.query('ALTER TABLE grants RENAME TO away');
    try {
      expect(await both()).toMatchObject([{ reason: expect.any(Unavailable) }, { reason: expect.any(Unavailable) }]);
    } finally {
      await database.pool.query('ALTER TABLE away RENAME TO grants');
    }
    expect(await both()).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
  });
});

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The database as it is, and what it is asked. */
function watched(): { readonly pool: Pool; readonly statements: readonly Statement[] } {
  const statements: Statement[] = [];
  const connect = async () => {
    const client = await database.pool.connect();
    const query = (statement: Statement) => {
      statements.push(statement);
      return client.query({ ...statement, values: [...statement.values] });
    };
    return { query, release: (broken?: boolean) => client.release(broken) };
  };
  return { pool: { connect } as unknown as Pool, statements };
}

describe('in a read model that is full', () => {
  const FILL = [
    `INSERT INTO approvals (tenant, approval_id, conversation_id, tool_name, server, args_digest, decision, decided_by_kind,
        decision_seq, seq)
      SELECT '${TENANT}', 'ap_' || n, 'conv-' || n % 400, 'tool-' || n % 40, 'gmail', md5((n % 1000)::text),
        (ARRAY['approved', 'denied'])[1 + n % 2], 'person', n, n FROM generate_series(1, 20000) n`,
    `INSERT INTO grants (tenant, grant_id, tool, server, expires_at, max_uses, used, issued_at, issued_seq, ended_at, seq)
      SELECT '${TENANT}', 'gr_' || n, 'tool-' || n % 40, 'gmail', now() + interval '1 day', 9, 0, now(), n,
        CASE WHEN n % 4 = 0 THEN now() END, n FROM generate_series(1, 5000) n`,
    'ANALYZE approvals, grants',
  ];

  it.each([1, 200])('both look-ups for %i calls find their rows by an index', async (count) => {
    for (const sql of FILL) await database.pool.query(sql);
    const { pool, statements } = watched();
    const read = precedentsReader(pool, now);
    await Promise.all(
      Array.from({ length: count }, (_, n) => read({ ...CALL, seq: 9_999, toolName: `tool-${n % 40}` })),
    );
    const [{ text, values } = { text: '', values: [] }] = statements;
    const { rows } = await database.pool.query<{ 'QUERY PLAN': unknown }>(`EXPLAIN (FORMAT JSON) ${text}`, [...values]);
    const nodes = nodesOf(rows[0]?.['QUERY PLAN']);
    const on = (table: string) => nodes.filter((node) => node['Relation Name'] === table);
    for (const table of ['approvals', 'grants'])
      expect(on(table).map((node) => node['Node Type'])).toEqual([expect.stringMatching(/^(Index|Bitmap)/)]);
    const indexes = nodes.map((node) => node['Index Name']);
    expect(indexes).toContain('approvals_denied_calls');
    expect(indexes).toContain('grants_of_tool');
  });
});

/** Every node of a plan. */
function nodesOf(plan: unknown): Record<string, unknown>[] {
  if (typeof plan !== 'object' || plan === null) return [];
  const inner = Object.values(plan).flatMap(nodesOf);
  return 'Node Type' in plan ? [plan, ...inner] : inner;
}
