import pg from 'pg';
import { Unavailable } from '#event-log/log';
import { isOutage, messageOf } from '#read-model/pg-errors';
import { quiet, withClient } from '#read-model/pools';
import { Projected } from './projected.js';

const CONNECT_WITHIN_MS = 2_000;
const ANSWER_WITHIN_MS = 5_000;
/** Compiling a list's statement takes longer than running it. */
const NO_JIT = '-c jit=off';

/** What lists are read with: rows of one parameterised statement. */
export interface Reader {
  query<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[]): Promise<Row[]>;
}

/** The gateway's way to Postgres: a role that may read and nothing else. Away, it says so within seconds. */
export class ReadModel implements Reader {
  private readonly pool: pg.Pool;
  private readonly projected: Projected;

  constructor(databaseUrl: string) {
    const config = {
      connectionString: databaseUrl,
      options: `-c role=holdpoint_read -c default_transaction_read_only=on ${NO_JIT} -c statement_timeout=${ANSWER_WITHIN_MS}`,
      application_name: 'holdpoint-gateway',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS + 500,
      keepAlive: true,
    };
    this.pool = quiet(new pg.Pool({ ...config, max: 8 }));
    this.projected = new Projected(config);
  }

  async query<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    let connected = false;
    try {
      return await withClient(this.pool, async (client) => {
        connected = true;
        return (await client.query<Row>(sql, [...values])).rows;
      });
    } catch (error) {
      if (connected && !isOutage(error)) throw error;
      throw new Unavailable(`The read model does not answer: ${messageOf(error)}`, { cause: error });
    }
  }

  projectedSeq = (): number => this.projected.current();
  /** Whether the fact is in the read model, at the latest after so long; nothing is polled. */
  waitFor = (seq: number, maxMs: number): Promise<boolean> => this.projected.waitFor(seq, maxMs);
  onProjected = (listener: (seq: number) => void): (() => void) => this.projected.onProjected(listener);

  async close(): Promise<void> {
    await this.projected.close();
    await this.pool.end();
  }
}
