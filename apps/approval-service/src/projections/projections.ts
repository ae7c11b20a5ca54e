import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Tenant } from '#contracts/ids';
import type { Log } from '#event-log/log';
import type { Projections } from '#read-model/project';
import { migrateUntilDone } from '#read-model/migrate';
import { messageOf } from '#read-model/pg-errors';
import { openProjectorPool } from '#read-model/pools';
import { ProjectionRefused, type ProjectorState } from '#read-model/projection-refused';
import { runProjection } from '#read-model/run-projection';
import { unpark, type Unparked } from '#read-model/unpark';
import { projectApproval } from './approvals/approvals.projection.js';
import { approvals } from './approvals/approvals.table.js';
import { denialsReader, type ReadDenials } from './approvals/denials.query.js';
import { attempts, projectAttempt } from './attempts/attempts.projection.js';
import { due, projectDue } from './due/due.projection.js';
import { dueReader, type DueReader } from './due/due.query.js';
import { grants, projectGrant } from './grants/grants.projection.js';
import { ReadModel1700000000001 } from './migrations/0001-read-model.js';
import { Policies1700000000002 } from './migrations/0002-policies.js';
import { Grants1700000000003 } from './migrations/0003-grants.js';
import { policies, projectPolicy } from './policies/policies.projection.js';
import { precedentsReader, type ReadPrecedents } from './precedents/precedents.query.js';
import { projectToken, tokens } from './tokens/tokens.projection.js';
import { projectTurn, turns } from './turns/turns.projection.js';

/** Raised when a projection comes to give other rows: the read model is then built again from the first fact. */
export const SCHEMA_VERSION = 3;

export const MIGRATIONS = [ReadModel1700000000001, Policies1700000000002, Grants1700000000003];

export const PROJECTIONS: Projections = [
  { table: turns, project: projectTurn },
  { table: approvals, project: projectApproval },
  { table: due, project: projectDue },
  { table: tokens, project: projectToken },
  { table: attempts, project: projectAttempt },
  { table: policies, project: projectPolicy },
  { table: grants, project: projectGrant },
];

let current: ProjectorState = { is: 'stopped' };
/** Of this process's projector; `refused` needs people. */
export const projectorState = (): ProjectorState => current;

export interface StartProjector {
  readonly log: Pick<Log, 'follow' | 'state'>;
  readonly databaseUrl: string;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error' | 'fatal'>;
  readonly clock: () => number;
  readonly signal: AbortSignal;
}

export interface Projector {
  readonly due: DueReader;
  readonly denials: ReadDenials;
  readonly precedents: ReadPrecedents;
  /** Applies again what was parked of an approval, a turn or a token; throws where it is still refused. */
  unpark(tenant: Tenant, id: string): Promise<Unparked>;
  /** Once the signal is aborted and everything is let go. Never rejects. */
  readonly finished: Promise<void>;
}

/** Returns at once: tables are made and facts projected as soon as Postgres is there, and nothing else waits for it. */
export function startProjector(starting: StartProjector): Projector {
  const pool = openProjectorPool(starting.databaseUrl);
  const finished = run(starting, pool).finally(() => closeWhenAborted(pool, starting.signal));
  return {
    due: dueReader(pool),
    denials: denialsReader(pool),
    precedents: precedentsReader(pool, starting.clock),
    unpark: (tenant, id) => unpark(pool, PROJECTIONS, tenant, id),
    finished,
  };
}

async function run({ log, databaseUrl, logger, signal }: StartProjector, pool: Pool): Promise<void> {
  const state = reportTo(logger);
  const failed = (error: unknown) => state({ is: 'paused', why: messageOf(error) });
  try {
    state({ is: 'starting' });
    if (!(await migrateUntilDone({ databaseUrl, migrations: MIGRATIONS, failed }, signal))) return;
    const parked = (event: object) => logger.error(event, 'An event could not be applied and is parked');
    const report = { state, parked };
    await runProjection({ log, pool, projections: PROJECTIONS, schemaVersion: SCHEMA_VERSION, report }, signal);
  } catch (error) {
    if (!(error instanceof ProjectionRefused)) state({ is: 'stopped' });
    logger.fatal({ err: error }, 'The projector has stopped for good: lists do not move until a person has looked');
  }
}

/** Changes of state are told, each once; how far it is, is a metric. */
function reportTo(logger: StartProjector['logger']): (state: ProjectorState) => void {
  return (state) => {
    const changed =
      state.is !== current.is || (state.is === 'paused' && current.is === 'paused' && state.why !== current.why);
    current = state;
    if (changed && state.is === 'paused') logger.warn(state, 'The projector waits and tries again');
    else if (changed) logger.info(state, 'The projector');
  };
}

/** A refused projector's pool still serves the deadlines and the unparking until the service stops. */
async function closeWhenAborted(pool: Pool, signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await pool.end();
}
