import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { HoldpointEvent } from '#contracts/events';
import type { Tenant } from '#contracts/ids';
import type { Policy, PolicyRule, Requirement } from '#contracts/policies/policy';
import { MemoryLog } from '#event-log/memory-log';
import { decodeFact } from '#event-log/codec';
import { hashOfPolicy } from '#policy/compiled';
import { PoliciesInForce } from '#policy/in-force';
import type { Projections } from '#read-model/project';
import { unpark } from '#read-model/unpark';
import { wipe } from '#read-model/wipe';
import { PROJECTIONS, SCHEMA_VERSION } from '../../apps/approval-service/src/projections/projections.js';
import { dump, eventually, project, projectAll, testDatabase, type TestDatabase } from './database.js';
import { at, callOf, decided, opened, requested, TENANT, TestLog, turnOf, type Told } from './facts.js';

const OTHER = 'other' as Tenant;
const ONE = { approvers: { count: 1 } };
const TWO = { approvers: { count: 2 } };

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase()));
afterAll(() => database.drop());
beforeEach(async () => {
  const client = await database.pool.connect();
  await wipe(client).finally(() => client.release());
});

const by = (event: HoldpointEvent, when: number, tenant = TENANT): Told => ({
  ...{ event, when, tenant },
  ...{ by: 'olga@example.com', kind: 'person' },
});

function published(version: number, policy: Policy, tenant = TENANT): Told {
  return by({ type: 'PolicyPublished', data: { ...policy, version, hash: hashOfPolicy(policy) } }, version, tenant);
}
const rule = (id: string, then: PolicyRule['then'], require?: Requirement): PolicyRule => ({
  ...{ id, then, tools: [`${id}_*`] },
  ...(require ? { require } : {}),
});

/** Each says something else of the same calls, and of when. */
const FIRST: Policy = {
  rules: [rule('send', 'require', { ...TWO, expiresInSeconds: 1_000, holdSeconds: 600 }), rule('read', 'approve')],
  default: { ...ONE, expiresInSeconds: 1_100 },
};
const SECOND: Policy = {
  rules: [
    rule('send', 'approve'),
    rule('read', 'require', {
      ...ONE,
      expiresInSeconds: 2_000,
      escalate: [{ afterSeconds: 250, approvers: { count: 1 } }],
    }),
  ],
  default: { ...TWO, expiresInSeconds: 2_100, onExpiry: 'approve' },
};
const THIRD: Policy = {
  rules: [rule('send', 'deny')],
  default: { ...ONE, expiresInSeconds: 3_100, escalate: [{ afterSeconds: 350, approvers: { count: 1 } }] },
};
const ELSEWHERE: Policy = { rules: [], default: { ...ONE, expiresInSeconds: 9_000 } };

const asked = (turn: string, tool: string, tenant = TENANT): Told => requested(turn, { tool, tenant, when: 10 });
const held = (turn: string): Told =>
  by(
    {
      type: 'ApprovalVoteCast',
      data: {
        ...{
          approvalId: callOf(turn),
          n: 1,
          vote: 'approve',
          argsDigest: digestOf({}),
          groups: [],
          closes: 'approved',
        },
        ...{ heldUntil: at(620), requirement: { policyVersion: 1, engineVersion: '1', hash: digestOf(1) } },
        ...{ response: null, requestSeq: 1 },
      },
    },
    20,
  );

/** Three versions, and before each of them and after the last requests that stay open; one is decided after the policy was replaced. */
const told: readonly Told[] = [
  opened,
  asked('send-0', 'send_mail'),
  published(1, FIRST),
  asked('send-1', 'send_mail'),
  asked('read-1', 'read_mail'),
  asked('else-1', 'pay'),
  asked('gone-1', 'pay'),
  published(1, ELSEWHERE, OTHER),
  published(2, SECOND),
  asked('send-2', 'send_mail'),
  held('send-1'),
  asked('read-2', 'read_mail'),
  asked('else-2', 'pay'),
  asked('other', 'send_mail', OTHER),
  decided('gone-1', 'denied'),
  published(3, THIRD),
  asked('send-3', 'send_mail'),
  asked('else-3', 'pay'),
];
const log = () => new TestLog().tell(...told);

/** Seconds after the request. */
interface Deadlines {
  readonly expiry: number;
  readonly escalation?: number;
  readonly policy?: number;
  readonly hold?: number;
}
const A_DAY = 86_400;
/** What each waits for, by the version of its own place. */
const DEADLINES: Readonly<Record<string, Deadlines>> = {
  'send-0': { expiry: A_DAY },
  'send-1': { expiry: 1_000, hold: 610 },
  'read-1': { expiry: 1_100, policy: 5 },
  'else-1': { expiry: 1_100 },
  'send-2': { expiry: 2_100, policy: 5 },
  'read-2': { expiry: 2_000, escalation: 250 },
  'else-2': { expiry: 2_100 },
  other: { expiry: 9_000 },
  'send-3': { expiry: 3_100, policy: 5 },
  'else-3': { expiry: 3_100, escalation: 350 },
};
const VERSIONS = Object.fromEntries(
  Object.keys(DEADLINES).map((turn) => [turn, turn === 'other' ? 1 : Number(turn.at(-1))]),
);

const rows = async <Row extends object>(sql: string) => (await database.pool.query<Row>(sql)).rows;

const expected = Object.entries(DEADLINES).flatMap(([turn, deadlines]) =>
  Object.entries(deadlines).map(([what, seconds]) => `${turn} ${what} ${at(10 + Number(seconds))}`),
);

async function found(): Promise<string[]> {
  const due = await rows<{ turn_id: string; what: string; at: Date }>(
    'SELECT turn_id, what, at FROM due JOIN approvals USING (tenant, approval_id)',
  );
  return due.map(({ turn_id, what, at: when }) => `${turn_id} ${what} ${when.toISOString()}`);
}

async function isKept(): Promise<void> {
  expect((await found()).sort()).toEqual([...expected].sort());
  const pending = await rows<{ turn_id: string; expires_at: Date }>(
    'SELECT turn_id, expires_at FROM approvals WHERE decision IS NULL ORDER BY turn_id COLLATE "C"',
  );
  expect(pending.map(({ turn_id, expires_at }) => [turn_id, expires_at.toISOString()])).toEqual(
    Object.entries(DEADLINES)
      .map(([turn, { expiry }]) => [turn, at(10 + expiry)])
      .sort(),
  );
}

/** Some facts are there, a projector copies them and goes; then come the next. */
async function projectInParts(sizes: readonly number[]): Promise<void> {
  const growing = new TestLog();
  for (let next = 0, part = 0; next < told.length; part += 1) {
    const size = sizes[part % sizes.length] ?? 1;
    growing.tell(...told.slice(next, next + size));
    next += size;
    await projectAll(growing, database.pool);
  }
}

describe('a request that waits while its policy is replaced', () => {
  it('keeps the deadlines of the version that was in force at its own place', async () => {
    await projectAll(log(), database.pool);
    await isKept();
  });

  it.each([[[1]], [[2]], [[3]], [[8, 1]], [[9, 7]], [[4, 11]]])(
    'keeps them where one projector after the other goes on, after %j facts, and a rebuild gives the same rows',
    async (sizes) => {
      await projectInParts(sizes);
      await isKept();
      const before = await dump(database.pool);
      await database.pool.query('DELETE FROM projection_checkpoint');
      await projectAll(log(), database.pool);
      expect(await dump(database.pool)).toEqual(before);
    },
  );

  it('keeps them where a newer schema builds everything again', async () => {
    await projectInParts([5]);
    const { projection_checkpoint: _, ...before } = await dump(database.pool);
    const running = project(log(), database.pool, { schemaVersion: SCHEMA_VERSION + 1 });
    const done = `SELECT 1 FROM projection_checkpoint WHERE schema_version = ${SCHEMA_VERSION + 1} AND last_seq = ${told.length}`;
    await eventually(async () => (await rows(done)).length === 1, 'built again');
    await running.stop();
    expect(await dump(database.pool)).toMatchObject(before);
    await isKept();
  });

  it('keeps them where it was parked, and is applied when the policy is another', async () => {
    await projectAll(log(), database.pool);
    const before = await dump(database.pool);
    await database.pool.query('DELETE FROM projection_checkpoint');
    const running = await projectAll(log(), database.pool, { projections: PROJECTIONS.map(refusing('send-1')) });
    expect(running.parked).toMatchObject([{ seq: 4 }]);
    await unpark(database.pool, PROJECTIONS, TENANT, turnOf('send-1'));
    expect(await dump(database.pool)).toEqual(before);
  });

  it('is judged by the same version in the service that decides, whenever that looks', async () => {
    const facts = log().raws.map((raw) => decodeFact<HoldpointEvent>(raw));
    const memory = new MemoryLog();
    for (const fact of facts) await memory.append(fact);
    const versionsAt = async (service: PoliciesInForce) => {
      const requests = facts.filter(({ event }) => event.type === 'ToolApprovalRequested');
      const judged = requests.map(async ({ event, tenant, seq }) => [
        event.type === 'ToolApprovalRequested' ? event.data.turnId : '',
        (await service.at(tenant, seq)).version,
      ]);
      return Object.fromEntries(await Promise.all(judged)) as Record<string, number>;
    };
    expect(await versionsAt(new PoliciesInForce(memory))).toEqual({ ...VERSIONS, 'gone-1': 1 });
  });
});

type OneOf<List extends readonly unknown[]> = List[number];

const refusing =
  (turn: string) =>
  (projection: OneOf<Projections>): OneOf<Projections> => ({
    ...projection,
    project: (fact, policies) => {
      if (fact.event.type === 'ToolApprovalRequested' && fact.event.data.turnId === turn)
        throw new Error('Not this one');
      return projection.project(fact, policies);
    },
  });
