import pg from 'pg';
import { quiet } from '#read-model/pools';
import { ANSWER_WITHIN_MS, readRows } from '#read-model/read-rows';
import { Projected } from './projected.js';

const CONNECT_WITHIN_MS = 2_000;
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
      keepAlive: true,
    };
    this.pool = quiet(new pg.Pool({ ...config, max: 8 }));
    this.projected = new Projected(config);
  }

  query<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    return readRows<Row>(this.pool, sql, values);
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
