import type { Pool } from 'pg';
import type { Log } from '#event-log/log';
import { openProjectorPool } from '#read-model/pools';
import { runProjection } from '#read-model/run-projection';
import { PROJECTIONS, SCHEMA_VERSION } from '../../apps/approval-service/src/projections/projections.js';

/** The product's own projector, from where the checkpoint stands until it has the fact. */
export async function projectUpTo(log: Pick<Log, 'follow' | 'state'>, databaseUrl: string, seq: number): Promise<void> {
  const pool = openProjectorPool(databaseUrl);
  try {
    await projectWith(log, pool, seq);
  } finally {
    await pool.end();
  }
}

async function projectWith(log: Pick<Log, 'follow' | 'state'>, pool: Pool, seq: number): Promise<void> {
  const stop = new AbortController();
  const problems: string[] = [];
  const report = {
    state: (state: { readonly is: string; readonly seq?: number; readonly why?: string }) => {
      if (state.is === 'paused') problems.push(String(state.why));
      if (state.is === 'paused' || (state.is === 'projecting' && (state.seq ?? 0) >= seq)) stop.abort();
    },
    parked: ({ error }: { readonly error: string }) => void problems.push(error),
  };
  await runProjection({ log, pool, projections: PROJECTIONS, schemaVersion: SCHEMA_VERSION, report }, stop.signal);
  if (problems.length > 0) throw new Error(`The projector did not get through: ${problems[0]}`);
}
