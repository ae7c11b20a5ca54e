import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '#read-model/migrate';
import { openProjectorPool } from '#read-model/pools';
import { ProjectionRefused, type ProjectorState } from '#read-model/projection-refused';
import { runProjection, type ProjectionServices } from '#read-model/run-projection';
import { READ_MODEL_TABLES } from '#read-model/wipe';
import { MIGRATIONS, PROJECTIONS, SCHEMA_VERSION } from '../../apps/approval-service/src/projections/projections.js';
import type { TestLog } from './facts.js';

export interface TestDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
  /** As the server's administrator, from another database: what breaks this one for a while. */
  admin(sql: string): Promise<void>;
  drop(): Promise<void>;
}

/** A database of one test's own, with the read model's tables. */
export async function testDatabase(): Promise<TestDatabase> {
  const adminUrl = process.env['HOLDPOINT_TEST_DATABASE_URL'] ?? '';
  const name = `read_model_${randomUUID().replaceAll('-', '')}`;
  const admin = async (sql: string) => {
    const client = new pg.Client(adminUrl);
    await client.connect();
    await client.query(sql.replaceAll('$database', name)).finally(() => client.end());
  };
  await admin('CREATE DATABASE $database');
  const url = Object.assign(new URL(adminUrl), { pathname: `/${name}` }).toString();
  await migrate({ databaseUrl: url, migrations: MIGRATIONS });
  const pool = openProjectorPool(url);
  const drop = async () => {
    await pool.end();
    await admin('DROP DATABASE IF EXISTS $database WITH (FORCE)');
  };
  return { url, pool, admin, drop };
}

/** Every table, every row, every column, in order. */
export async function dump(pool: pg.Pool): Promise<Record<string, unknown[]>> {
  const tables: [string, unknown[]][] = [];
  for (const table of READ_MODEL_TABLES)
    tables.push([table, (await pool.query(`SELECT * FROM ${table} ORDER BY 1, 2, 3`)).rows]);
  return Object.fromEntries(tables);
}

export const checkpointOf = async (pool: pg.Pool): Promise<number> =>
  Number((await pool.query<{ last_seq: string }>('SELECT last_seq FROM projection_checkpoint')).rows[0]?.last_seq ?? 0);

export async function eventually(holds: () => Promise<boolean>, what: string, withinMs = 20_000): Promise<void> {
  for (const end = Date.now() + withinMs; Date.now() < end; await sleep(20)) if (await holds()) return;
  throw new Error(`Not within ${withinMs} ms: ${what}`);
}

export interface Running {
  readonly states: ProjectorState[];
  readonly parked: { readonly seq: number; readonly error: string }[];
  /** What it was refused for, once it has ended. */
  readonly ended: Promise<ProjectionRefused | undefined>;
  stop(): Promise<void>;
}

export function project(log: TestLog, pool: pg.Pool, more: Partial<ProjectionServices> = {}): Running {
  const stopping = new AbortController();
  const states: ProjectorState[] = [];
  const parked: Running['parked'] = [];
  const report = {
    state: (state: ProjectorState) => void states.push(state),
    parked: (event: { seq: number; error: string }) => void parked.push(event),
  };
  const services = { log, pool, projections: PROJECTIONS, schemaVersion: SCHEMA_VERSION, report, ...more };
  const ended = runProjection(services, stopping.signal).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ProjectionRefused) return error;
      throw error;
    },
  );
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  return { states, parked, ended, stop };
}

/** Runs a projector until the whole log is in the read model. */
export async function projectAll(
  log: TestLog,
  pool: pg.Pool,
  more: Partial<ProjectionServices> = {},
): Promise<Running> {
  const running = project(log, pool, more);
  const done = eventually(async () => (await checkpointOf(pool)) === log.lastSeq, `checkpoint at ${log.lastSeq}`);
  await Promise.race([done, running.ended]);
  await running.stop();
  await done.catch(() => undefined);
  return running;
}
