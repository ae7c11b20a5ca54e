import type { ClientBase } from 'pg';

/** All of the work or none of it. Where even the rollback fails, the connection is broken and Postgres rolls back itself. */
export async function inTransaction<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  try {
    const [, result] = await Promise.all([client.query('BEGIN'), work()]);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** As above, within a transaction that goes on. */
export async function inSavepoint(client: ClientBase, work: () => Promise<void>): Promise<void> {
  await client.query('SAVEPOINT one_event');
  try {
    await work();
    await client.query('RELEASE SAVEPOINT one_event');
  } catch (error) {
    await client.query('ROLLBACK TO SAVEPOINT one_event');
    throw error;
  }
}
