import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { onDatabase } from './stack.js';

const TABLES = ['event_log', 'turns', 'approvals', 'due', 'tokens', 'attempts', 'policies', 'grants'] as const;

/** The rows of a read model in files, to be put into another of the same shape by bare COPY, which reads them on the server. */
export class CopiedRows {
  private constructor(
    private readonly dir: string,
    readonly rows: number,
  ) {}

  static async of(databaseUrl: string, serverDir: string): Promise<CopiedRows> {
    const dir = join(serverDir, 'copied');
    mkdirSync(dir);
    chmodSync(dir, 0o777);
    const rows = await onDatabase(databaseUrl, async (client) => {
      let total = 0;
      for (const table of TABLES)
        total += (await client.query(`COPY ${table} TO '${fileOf(dir, table)}'`)).rowCount ?? 0;
      return total;
    });
    return new CopiedRows(dir, rows);
  }

  /** In one transaction, into tables with the same keys and indexes, which `empty` has emptied. */
  async into(client: pg.Client): Promise<void> {
    await client.query('BEGIN');
    for (const table of TABLES) await client.query(`COPY ${table} FROM '${fileOf(this.dir, table)}'`);
    await client.query('COMMIT');
  }
}

const fileOf = (dir: string, table: string): string => join(dir, `${table}.copy`);

/** What the round before left to be done by the server is done before the next begins. */
export const empty = async (client: pg.Client): Promise<void> => {
  await client.query(`TRUNCATE ${TABLES.join(', ')}, parked_events, projection_checkpoint`);
  await client.query('CHECKPOINT');
};
