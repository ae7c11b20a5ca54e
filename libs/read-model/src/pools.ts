import pg from 'pg';

const KEEPALIVE = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';
const CONNECT_WITHIN_MS = 2_000;

/**
 * For the projector and what reads beside it: statements are sent without waiting for the answer to the one before. A session that
 * freezes inside a transaction gives the checkpoint up.
 */
export const openProjectorPool = (databaseUrl: string): pg.Pool =>
  quiet(
    new pg.Pool({
      connectionString: databaseUrl,
      max: 4,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      keepAlive: true,
      pipeline: true,
      application_name: 'holdpoint-projector',
      options: `${KEEPALIVE} -c idle_in_transaction_session_timeout=30000`,
    }),
  );

/** An idle connection that breaks is replaced at the next query; unheard, its error would end the process. */
export function quiet(pool: pg.Pool): pg.Pool {
  pool.on('error', () => undefined);
  return pool;
}

/** A client of one's own for a while, given up for good where the work failed: it may hold locks. Its broken connection shows in the query that runs on it, so the event need not be heard. */
export async function withClient<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  const unheard = () => undefined;
  client.on('error', unheard);
  try {
    const result = await work(client);
    client.removeListener('error', unheard);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
