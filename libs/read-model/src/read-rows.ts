import type pg from 'pg';
import { Unavailable } from '#decider/unavailable';
import { isOutage, messageOf } from './pg-errors.js';
import { withClient } from './pools.js';

export const ANSWER_WITHIN_MS = 5_000;

/** Rows of one parameterised statement. `Unavailable` within seconds where Postgres is away or says nothing. */
export async function readRows<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  let connected = false;
  try {
    return await withClient(pool, async (client) => {
      connected = true;
      const query = { text, values: [...values], query_timeout: ANSWER_WITHIN_MS + 500 };
      return (await client.query<Row>(query)).rows;
    });
  } catch (error) {
    if (connected && !isOutage(error)) throw error;
    throw new Unavailable(`The read model does not answer: ${messageOf(error)}`, { cause: error });
  }
}
