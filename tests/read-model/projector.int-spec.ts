import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { digestOf } from '#contracts/canonical';
import { later } from '#contracts/ids';
import type { RawFact } from '#event-log/log';
import { applyBatch, batchOf } from '#read-model/apply-batch';
import { openCheckpoint, type Checkpoint } from '#read-model/checkpoint';
import { NO_POLICIES } from '#policy/in-force';
import { linksAfter } from '#read-model/links';
import { Fenced } from '#read-model/projection-refused';
import { unpark } from '#read-model/unpark';
import { READ_MODEL_TABLES, wipe } from '#read-model/wipe';
import { PROJECTIONS, SCHEMA_VERSION } from '../../apps/approval-service/src/projections/projections.js';
import { checkpointOf, dump, eventually, project, projectAll, testDatabase, type TestDatabase } from './database.js';
import {
  at,
  callOf,
  decided,
  decidedByGrant,
  deniedAgain,
  ended,
  extended,
  failed,
  givenBack,
  grantEnded,
  grantId,
  grantIssued,
  issued,
  lapsed,
  opened,
  rawOf,
  redeemed,
  remembered,
  requested,
  resumed,
  revoked,
  START,
  started,
  succeeded,
  TENANT,
  TestLog,
  tokenRevoked,
  turnOf,
} from './facts.js';

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase()));
afterAll(() => database.drop());
beforeEach(async () => {
  const client = await database.pool.connect();
  await wipe(client).finally(() => client.release());
});

/** Every kind of fact there is. */
const everything = () =>
  new TestLog().tell(
    opened,
    issued('ada'),
    requested('t-1', { calls: 3 }),
    decided('t-1', 'approved'),
    decided('t-1', 'denied', { index: 1 }),
    decided('t-1', 'approved', { index: 2 }),
    resumed('t-1'),
    extended('t-1', { n: 2 }),
    started('t-1'),
    revoked('t-1', { index: 2 }),
    succeeded('t-1'),
    ended('t-1'),
    requested('t-2', { calls: 2, release: 'each' }),
    decided('t-2', 'approved'),
    resumed('t-2', { index: 0 }),
    started('t-2'),
    failed('t-2'),
    givenBack('t-2', { index: 0, n: 2 }),
    decided('t-2', 'approved', { index: 1 }),
    lapsed('t-2', { index: 1 }),
    tokenRevoked('ada'),
    requested('t-3', { calls: 1 }),
    requested('t-4', { calls: 2 }),
    decided('t-4', 'approved', { remember: remembered('all', { server: 'gmail' }) }),
    grantIssued('all', { server: 'gmail' }, 't-4'),
    decided('t-4', 'denied', { index: 1, reason: 'no' }),
    requested('t-5', { calls: 3 }),
    redeemed('all', 't-5'),
    decidedByGrant('t-5', 'all'),
    deniedAgain('t-5', 't-4', { index: 1 }),
    resumed('t-5'),
    started('t-5', { grant: 'all' }),
    redeemed('all', 't-5', { n: 2, index: 2 }),
    decidedByGrant('t-5', 'all', { n: 2, index: 2 }),
    grantEnded('all', { reason: 'enough' }),
    revoked('t-5', { index: 2 }),
    grantIssued('few', {
      agent: 'billing-agent',
      conversationId: 'conv-1',
      when: 'args.n < 3',
      expiresAt: at(9_000),
      issuedAt: 20,
    }),
  );

/** What the log has of its own: facts and approvals of `everything`. */
const FACTS = 37;
const CALLS = 11;

const rows = async (sql: string) => (await database.pool.query(sql)).rows as Record<string, unknown>[];
const wipeAll = () => database.pool.query(`TRUNCATE ${READ_MODEL_TABLES.join(', ')}`);
const manyTurns = (count: number) => {
  const log = new TestLog().tell(opened);
  for (let at = 0; at < count; at += 1)
    log.tell(requested(`t-${at}`), decided(`t-${at}`), resumed(`t-${at}`), started(`t-${at}`), succeeded(`t-${at}`));
  return log;
};

describe('the rows', () => {
  it.each([1, 3, 7])('are the same after everything was wiped, and in batches of %i', async (size) => {
    const log = everything();
    await projectAll(log, database.pool);
    const first = await dump(database.pool);
    expect(first['approvals']).toHaveLength(CALLS);
    expect(first['tokens']).toHaveLength(1);
    expect(first['grants']).toHaveLength(2);
    await wipeAll();
    const client = await database.pool.connect();
    let from = await openCheckpoint(client, await log.state(), SCHEMA_VERSION);
    for (let at = 0; at < log.raws.length; at += size) {
      const raws = log.raws.slice(at, at + size);
      from = await applyBatch(client, await batchAfter(from, raws), { from, parked: () => undefined });
    }
    client.release();
    expect(await dump(database.pool)).toEqual(first);
  });

  it('are built again by a newer schema version, and never by an older one', async () => {
    const log = everything();
    await projectAll(log, database.pool);
    const { projection_checkpoint: _, ...first } = await dump(database.pool);
    const running = project(log, database.pool, { schemaVersion: SCHEMA_VERSION + 1 });
    const rebuilt = async () =>
      (
        await rows(
          `SELECT * FROM projection_checkpoint WHERE schema_version = ${SCHEMA_VERSION + 1} AND last_seq = ${FACTS}`,
        )
      ).length === 1;
    await eventually(rebuilt, 'built again');
    await running.stop();
    expect(await dump(database.pool)).toMatchObject(first);
    expect((await project(log, database.pool).ended)?.reason).toBe('newer-schema');
  });

  it('hold what the facts say', async () => {
    await projectAll(everything(), database.pool);
    expect(await rows(`SELECT approval_id, what FROM due ORDER BY at`)).toEqual([
      { approval_id: callOf('t-3'), what: 'expiry' },
      { approval_id: callOf('t-4'), what: 'lapse' },
    ]);
    expect(
      await rows(`SELECT lease_key, lease_until, given_back_at FROM attempts ORDER BY lease_until, given_back_at`),
    ).toEqual([
      { lease_key: callOf('t-2'), lease_until: new Date(at(180)), given_back_at: new Date(at(150)) },
      { lease_key: turnOf('t-5'), lease_until: new Date(at(180)), given_back_at: null },
      { lease_key: turnOf('t-1'), lease_until: new Date(at(240)), given_back_at: null },
    ]);
    expect(await rows(`SELECT ended_as, calls, lease_attempt FROM turns ORDER BY turn_id`)).toMatchObject([
      { ended_as: 'completed', calls: 3, lease_attempt: 1 },
      { ended_as: null, calls: 2, lease_attempt: null },
      { ended_as: null },
      { ended_as: null },
      { ended_as: null, calls: 3, lease_attempt: 1 },
    ]);
  });

  it('hold what became of each grant, and which approved what', async () => {
    const log = everything();
    await projectAll(log, database.pool);
    const seqs = log.raws.filter(({ subject }) => subject.includes(grantId('all'))).map(({ seq }) => seq);
    const none = { agent: null, conversation_id: null, condition: null };
    expect(await rows('SELECT *, issued_seq::int, seq::int FROM grants ORDER BY issued_at')).toEqual([
      {
        tenant: TENANT,
        grant_id: grantId('all'),
        tool: 'send_email',
        server: 'gmail',
        ...none,
        schema_digest: remembered('all').schemaDigest,
        approval_id: callOf('t-4'),
        expires_at: new Date(remembered('all').expiresAt),
        max_uses: 3,
        used: 2,
        issued_at: new Date(at(0)),
        issued_by: 'ada@example.com',
        issued_seq: seqs[0],
        ended_at: new Date(at(150)),
        ended_by: 'olga@example.com',
        end_reason: 'enough',
        seq: seqs.at(-1),
      },
      expect.objectContaining({
        grant_id: grantId('few'),
        server: null,
        agent: 'billing-agent',
        conversation_id: 'conv-1',
        condition: 'args.n < 3',
        approval_id: null,
        expires_at: new Date(at(9_000)),
        used: 0,
        ended_at: null,
        ended_by: null,
        end_reason: null,
      }),
    ]);
    const answered = `SELECT call_index, decision, decided_by, decided_by_kind, grant_id, use_is FROM approvals
      WHERE turn_id = 't-5' ORDER BY call_index`;
    const byGrant = { decision: 'approved', decided_by: grantId('all'), decided_by_kind: 'grant' };
    expect(await rows(answered)).toEqual([
      { call_index: 0, ...byGrant, grant_id: grantId('all'), use_is: 'started' },
      {
        call_index: 1,
        decision: 'denied',
        decided_by: callOf('t-4'),
        decided_by_kind: 'denial',
        grant_id: null,
        use_is: null,
      },
      { call_index: 2, ...byGrant, grant_id: grantId('all'), use_is: 'revoked' },
    ]);
  });

  it('keep text with NUL and every other character', async () => {
    const nasty = 'a\u0000b\ud83d\ude00"\\{},\n';
    const log = new TestLog().tell(
      requested('t-1', { args: { text: nasty, [nasty]: [null, '\\x00'] }, description: nasty }),
      decided('t-1', 'approved', { reason: nasty, editedArgs: { text: nasty } }),
      revoked('t-1', { reason: nasty }),
    );
    await projectAll(log, database.pool);
    expect(await rows('SELECT args, description, decision_reason, edited_args, revoke_reason FROM approvals')).toEqual([
      {
        args: { text: nasty, [nasty]: [null, '\\x00'] },
        description: nasty,
        decision_reason: nasty,
        edited_args: { text: nasty },
        revoke_reason: nasty,
      },
    ]);
    const [copied] = await rows('SELECT data FROM event_log WHERE seq = 1');
    expect(Buffer.compare(copied?.['data'] as Buffer, log.raws[0]?.data ?? new Uint8Array())).toBe(0);
  });

  it('have the columns that the projections name', async () => {
    const columns = await rows(
      `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    for (const { table } of PROJECTIONS) {
      const made = columns.filter(({ table_name }) => table_name === table.name);
      const types = { 'timestamp with time zone': 'timestamptz' } as Record<string, string>;
      const found = made.map(({ column_name, data_type }) => [column_name, types[String(data_type)] ?? data_type]);
      expect(Object.fromEntries(found)).toEqual(table.columns);
    }
  });
});

describe('two projectors', () => {
  it('do not both project: one waits, and takes over', async () => {
    const log = manyTurns(400);
    const one = project(log, database.pool);
    await eventually(async () => (await checkpointOf(database.pool)) > 0, 'begun');
    const other = project(log, database.pool);
    await eventually(() => Promise.resolve(other.states.some(({ is }) => is === 'waiting')), 'the other waits');
    await one.stop();
    log.tell(requested('late'));
    await eventually(async () => (await checkpointOf(database.pool)) === log.lastSeq, 'the other goes on');
    await other.stop();
    expect(await rows('SELECT count(*)::int AS n FROM approvals')).toEqual([{ n: 401 }]);
  });

  it('never both write: the one whose checkpoint was moved is fenced and leaves nothing', async () => {
    const log = everything();
    const [one, other] = [await database.pool.connect(), await database.pool.connect()];
    const from = await openCheckpoint(one, await log.state(), SCHEMA_VERSION);
    const batch = await batchAfter(from, log.raws);
    const onto = { from, parked: () => undefined };
    const both = await Promise.allSettled([applyBatch(one, batch, onto), applyBatch(other, batch, onto)]);
    one.release();
    other.release();
    const [lost] = both.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(lost).toBeInstanceOf(Fenced);
    expect(await rows('SELECT count(*)::int AS n FROM event_log')).toEqual([{ n: FACTS }]);
  });
});

async function batchAfter(from: Checkpoint, raws: readonly RawFact[]) {
  const links = [];
  for await (const link of linksAfter({ ...from, policies: NO_POLICIES }, eachOf(raws))) links.push(link);
  return batchOf(links, PROJECTIONS);
}

async function* eachOf(raws: readonly RawFact[]): AsyncIterable<RawFact> {
  yield* raws;
  await Promise.resolve();
}

describe('what breaks in between', () => {
  it('leaves no trace where sessions are killed again and again', async () => {
    const log = manyTurns(1_000);
    await projectAll(log, database.pool);
    const whole = await dump(database.pool);
    await wipeAll();
    const running = project(log, database.pool);
    const kill = () =>
      database.admin(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$database' AND application_name = 'holdpoint-projector'`,
      );
    for (let times = 0; times < 6; times += 1) {
      await kill();
      await sleep(150);
    }
    await eventually(
      async () => (await checkpointOf(database.pool).catch(() => 0)) === log.lastSeq,
      'all is projected',
    );
    await running.stop();
    expect(running.states.some(({ is }) => is === 'paused')).toBe(true);
    expect(await dump(database.pool)).toEqual(whole);
  });

  it('is waited out: Postgres away for a while parks nothing', async () => {
    const log = everything();
    const running = project(log, database.pool);
    await eventually(async () => (await checkpointOf(database.pool)) === log.lastSeq, 'all is projected');
    await database.admin('ALTER DATABASE $database ALLOW_CONNECTIONS false');
    await database.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$database'`);
    log.tell(requested('meanwhile'), decided('meanwhile'));
    await eventually(() => Promise.resolve(running.states.at(-1)?.is === 'paused'), 'paused');
    await database.admin('ALTER DATABASE $database ALLOW_CONNECTIONS true');
    await eventually(async () => (await checkpointOf(database.pool).catch(() => 0)) === log.lastSeq, 'it goes on');
    await running.stop();
    expect(await rows('SELECT count(*)::int AS n FROM parked_events')).toEqual([{ n: 0 }]);
  });

  it('takes few transactions for many facts', async () => {
    const log = manyTurns(2_000);
    const running = await projectAll(log, database.pool);
    const transactions = running.states.filter(({ is }) => is === 'projecting').length;
    expect(transactions).toBeLessThan(60);
    expect(await rows(`SELECT count(*)::int AS n FROM approvals WHERE outcome_ok`)).toEqual([{ n: 2_000 }]);
  });

  it('lets facts gather that come one after another', async () => {
    const log = everything();
    const running = project(log, database.pool);
    await eventually(async () => (await checkpointOf(database.pool)) === log.lastSeq, 'what was there is projected');
    const before = running.states.length;
    for (let n = 0; n < 40; n += 1) {
      log.tell(requested(`trickle-${n}`));
      await sleep(4);
    }
    await eventually(async () => (await checkpointOf(database.pool)) === log.lastSeq, 'all is projected');
    await running.stop();
    expect(running.states.length - before).toBeLessThan(20);
  });
});

describe('a log that the read model was not made from', () => {
  const refusal = async (log: TestLog) => (await project(log, database.pool).ended)?.reason;
  const seen = async () => (await dump(database.pool))['projection_checkpoint'];

  it('is refused where it ends before the checkpoint', async () => {
    await projectAll(everything(), database.pool);
    const before = await seen();
    const cut = everything();
    cut.raws.splice(FACTS - 2);
    expect(await refusal(cut)).toBe('checkpoint-ahead');
    expect(await seen()).toEqual(before);
  });
  it('is refused where it is another stream', async () => {
    await projectAll(everything(), database.pool);
    expect(await refusal(new TestLog(later(START, 1)).give(...everything().raws))).toBe('another-stream');
  });
  it('is refused where its tail was lost and written again', async () => {
    await projectAll(everything(), database.pool);
    const other = everything();
    other.raws.splice(FACTS - 1);
    expect(await refusal(other.tell(requested('t-8'), requested('t-9')))).toBe('log-differs-from-copy');
  });
  it('is refused at a gap', async () => {
    const log = new TestLog().tell(requested('t-1')).give(rawOf(decided('t-1'), 3));
    expect(await refusal(log)).toBe('gap');
    expect(await checkpointOf(database.pool)).toBeLessThan(2);
  });
  it('is refused where the message at the checkpoint is gone', async () => {
    await projectAll(everything(), database.pool);
    const log = everything().tell(requested('t-8'));
    log.raws.splice(FACTS - 1, 1);
    expect(await refusal(log)).toBe('gap');
  });
});

describe('a fact that must not be', () => {
  it('stops the projector: a second decision for one approval, and the first stays', async () => {
    const log = new TestLog().tell(requested('t-1'), decided('t-1', 'denied'));
    await projectAll(log, database.pool);
    log.tell(decided('t-1', 'approved', { when: 90 }), requested('t-2'));
    const running = project(log, database.pool);
    expect((await running.ended)?.reason).toBe('second-fact');
    expect(running.states.at(-1)).toMatchObject({ is: 'refused', reason: 'second-fact' });
    expect(await rows('SELECT decision FROM approvals')).toEqual([{ decision: 'denied' }]);
    expect(await checkpointOf(database.pool)).toBe(2);
  });

  it('stops the projector: one of a type or version that this code does not know', async () => {
    const raw = rawOf(requested('t-1'), 1);
    const newer = { ...raw, headers: { ...raw.headers, 'ce-type': 'holdpoint.ToolApprovalRequested.v2' } };
    expect((await project(new TestLog().give(newer), database.pool).ended)?.reason).toBe('unreadable-fact');
    const unknown = { ...raw, headers: { ...raw.headers, 'ce-type': 'holdpoint.SomethingNew.v1' } };
    expect((await project(new TestLog().give(unknown), database.pool).ended)?.reason).toBe('unreadable-fact');
    expect(await checkpointOf(database.pool)).toBe(0);
  });
});

describe('a fact that cannot be applied', () => {
  const poison = `ALTER TABLE approvals ADD CONSTRAINT poison CHECK (decision_reason IS NULL)`;
  const heal = () => database.pool.query('ALTER TABLE approvals DROP CONSTRAINT IF EXISTS poison');
  afterEach(heal);

  const story = () =>
    new TestLog().tell(
      requested('t-1', { calls: 2 }),
      decided('t-1', 'approved', { reason: 'poison' }),
      decided('t-1', 'approved', { index: 1 }),
      resumed('t-1'),
      started('t-1'),
      started('t-1', { index: 1 }),
      succeeded('t-1'),
      requested('t-2'),
    );

  it('parks its approval and no other, and unparking heals it', async () => {
    await projectAll(story(), database.pool);
    const whole = await dump(database.pool);
    await wipeAll();
    await database.pool.query(poison);
    const running = await projectAll(story(), database.pool);
    expect(running.parked).toMatchObject([{ seq: 2 }]);
    expect(await rows('SELECT seq::int, id FROM parked_events ORDER BY seq')).toEqual(
      [2, 5, 7].map((seq) => ({ seq, id: callOf('t-1') })),
    );
    expect(await rows('SELECT decision, use_is FROM approvals ORDER BY turn_id, call_index')).toEqual([
      { decision: null, use_is: null },
      { decision: 'approved', use_is: 'started' },
      { decision: null, use_is: null },
    ]);

    await expect(unpark(database.pool, PROJECTIONS, TENANT, callOf('t-1'))).rejects.toThrow('poison');
    expect(await rows('SELECT count(*)::int AS n FROM parked_events')).toEqual([{ n: 3 }]);
    await heal();
    expect(await unpark(database.pool, PROJECTIONS, TENANT, callOf('t-1'))).toEqual({ applied: 3, seq: 7 });
    expect(await dump(database.pool)).toEqual(whole);
    expect(await unpark(database.pool, PROJECTIONS, TENANT, callOf('t-1'))).toEqual({ applied: 0, seq: 0 });
  });

  it('keeps later facts of the same approval waiting across restarts', async () => {
    await database.pool.query(poison);
    const log = story();
    await projectAll(log, database.pool);
    await projectAll(log.tell(failed('t-1', { index: 1 }), revoked('t-2')), database.pool);
    expect(await rows('SELECT max(seq)::int AS seq FROM parked_events')).toEqual([{ seq: 7 }]);
    expect(await checkpointOf(database.pool)).toBe(10);
  });

  it('parks a grant by itself, and unparking heals it', async () => {
    const log = () => everything().tell(requested('late'));
    await projectAll(log(), database.pool);
    const whole = await dump(database.pool);
    await wipeAll();
    await database.pool.query('ALTER TABLE grants ADD CONSTRAINT poison CHECK (used < 2)');
    await projectAll(log(), database.pool);
    await database.pool.query('ALTER TABLE grants DROP CONSTRAINT poison');
    expect(await rows('SELECT DISTINCT id FROM parked_events')).toEqual([{ id: grantId('all') }]);
    expect(await unpark(database.pool, PROJECTIONS, TENANT, grantId('all'))).toMatchObject({ applied: 2 });
    expect(await dump(database.pool)).toEqual(whole);
  });

  it('parks the whole turn where it is the request, and unparking any of it heals all', async () => {
    await projectAll(story(), database.pool);
    const whole = await dump(database.pool);
    await wipeAll();
    await database.pool.query(`ALTER TABLE approvals ADD CONSTRAINT poison CHECK (turn_id <> 't-1')`);
    await projectAll(story(), database.pool);
    expect(await rows('SELECT turn_id FROM approvals')).toEqual([{ turn_id: 't-2' }]);
    await heal();
    expect(await unpark(database.pool, PROJECTIONS, TENANT, callOf('t-1', 1))).toEqual({ applied: 7, seq: 7 });
    expect(await dump(database.pool)).toEqual(whole);
  });
});

describe('the reader’s role', () => {
  it('reads lists, and neither writes nor sees what a token’s secret hashes to', async () => {
    await projectAll(everything(), database.pool);
    const client = await database.pool.connect();
    try {
      await client.query('SET ROLE holdpoint_read');
      expect((await client.query('SELECT * FROM tokens')).rowCount).toBe(1);
      expect((await client.query('SELECT seq, id, type, hash FROM event_log')).rowCount).toBe(FACTS);
      await expect(client.query('SELECT data FROM event_log')).rejects.toThrow('permission denied');
      await expect(client.query(`DELETE FROM due`)).rejects.toThrow('permission denied');
      expect(JSON.stringify((await client.query('SELECT * FROM tokens')).rows)).not.toContain(digestOf('').slice(-10));
    } finally {
      client.release(true);
    }
  });
});
