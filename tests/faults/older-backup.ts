import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { READ_MODEL_TABLES } from '#read-model/wipe';
import { eventually } from '../support/world.js';

/** Postgres as it was a while ago, as from a backup: the checkpoint is behind what the services had written. */
export async function restoreOlder(databaseUrl: string, forMs: number): Promise<void> {
  await inOne(databaseUrl, [
    'DROP SCHEMA IF EXISTS backup CASCADE',
    'CREATE SCHEMA backup',
    ...READ_MODEL_TABLES.map((table) => `CREATE TABLE backup.${table} AS TABLE public.${table}`),
  ]);
  await sleep(forMs);
  await inOne(databaseUrl, [
    `LOCK TABLE ${READ_MODEL_TABLES.map((table) => `public.${table}`).join(', ')} IN ACCESS EXCLUSIVE MODE`,
    ...READ_MODEL_TABLES.flatMap((table) => [
      `DELETE FROM public.${table}`,
      `INSERT INTO public.${table} SELECT * FROM backup.${table}`,
    ]),
    'DROP SCHEMA backup CASCADE',
  ]);
}

const inOne = (connectionString: string, statements: readonly string[]): Promise<void> =>
  eventually(async () => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      for (const statement of statements) await client.query(statement);
      await client.query('COMMIT');
    } finally {
      await client.end();
    }
  });
