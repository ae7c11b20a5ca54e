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

/**
 * A connection that breaks shows in the query that runs on it, and an idle one is replaced at the next; unheard, its error would end
 * the process. Heard from the first moment: the answer that a session is ready and the one that it was ended can come together,
 * before who asked for the client has it.
 */
export function quiet(pool: pg.Pool): pg.Pool {
  const unheard = () => undefined;
  pool.on('connect', (client) => client.on('error', unheard));
  pool.on('error', unheard);
  return pool;
}

/** A client of one's own for a while, given up for good where the work failed: it may hold locks. */
export async function withClient<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
