import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { quiet, withClient } from './pools.js';

const MIGRATION_LOCK = 7_400_002;
const TRY_AGAIN_MS = 1_000;

export interface Migrating {
  readonly databaseUrl: string;
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** Postgres is away, or refuses: told at each try. */
  readonly failed: (error: unknown) => void;
}

/** Brings the tables up to date, trying for ever. False where it was aborted before it could. */
export async function migrateUntilDone(migrating: Migrating, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await migrate(migrating);
      return true;
    } catch (error) {
      migrating.failed(error);
      await sleep(TRY_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return false;
}

/** One instance at a time: the others wait for the lock, and then find nothing left to do. */
export async function migrate({ databaseUrl, migrations }: Omit<Migrating, 'failed'>): Promise<void> {
  const pool = quiet(new pg.Pool({ connectionString: databaseUrl, max: 1, connectionTimeoutMillis: 2_000 }));
  try {
    await withClient(pool, async (client) => {
      await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await runMigrations(databaseUrl, migrations);
      await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    });
  } finally {
    await pool.end();
  }
}

async function runMigrations(databaseUrl: string, migrations: Migrating['migrations']): Promise<void> {
  const source = new DataSource({
    type: 'postgres',
    url: databaseUrl,
    migrations: [...migrations],
    connectTimeoutMS: 2_000,
  });
  await source.initialize();
  try {
    await source.runMigrations({ transaction: 'each' });
  } finally {
    await source.destroy();
  }
}
