import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { LogGap, type Log, type RawFact } from '#event-log/log';
import { applyBatch, batchOf, type Batch, type ReportParked } from './apply-batch.js';
import { openCheckpoint, proveCheckpoint, type Checkpoint } from './checkpoint.js';
import { Inflow } from './inflow.js';
import { linksAfter, type Link } from './links.js';
import { messageOf } from './pg-errors.js';
import { withClient } from './pools.js';
import { readPolicies } from './policies.js';
import type { Projections } from './project.js';
import { ProjectionRefused, type ProjectorState } from './projection-refused.js';
import { inTransaction } from './transaction.js';
import { wipe } from './wipe.js';

const A_TRANSACTION = 500;
const MOST_BUFFERED = 2_000;
/** A transaction costs the same for one fact as for fifty: after one that was not full, the next facts are let gather. */
const GATHER_MS = 25;
const PROOF_WITHIN_MS = 15_000;
const TRY_AGAIN_MS = 500;
/** Of the session that projects; any constant that nothing else in this database uses. */
const PROJECTOR_LOCK = 7_400_001;

export interface ProjectionServices {
  readonly log: Pick<Log, 'follow' | 'state'>;
  readonly pool: Pool;
  readonly projections: Projections;
  /** Raised when rows would come out differently: the read model is then projected again from the first fact. */
  readonly schemaVersion: number;
  readonly report: ProjectionReport;
}

export interface ProjectionReport {
  state(state: ProjectorState): void;
  readonly parked: ReportParked;
}

/** Projects until aborted. An outage is waited out; a log that is not the one the read model came from ends it: `ProjectionRefused`. */
export async function runProjection(services: ProjectionServices, signal: AbortSignal): Promise<void> {
  const { report } = services;
  report.state({ is: 'starting' });
  while (!signal.aborted) {
    await projectIfFree(services, signal).catch((error: unknown) => {
      if (error instanceof ProjectionRefused) {
        report.state({ is: 'refused', reason: error.reason, detail: error.message });
        throw error;
      }
      if (!signal.aborted) report.state({ is: 'paused', why: messageOf(error) });
    });
    await sleep(TRY_AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
  report.state({ is: 'stopped' });
}

/** The lock is the session's, and so are the transactions: who loses the one loses the other. */
const projectIfFree = (services: ProjectionServices, signal: AbortSignal): Promise<void> =>
  withClient(services.pool, async (client) => {
    const lock = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [PROJECTOR_LOCK]);
    if (lock.rows[0]?.mine !== true) return services.report.state({ is: 'waiting' });
    await projectFrom(services, client, signal);
    await client.query('SELECT pg_advisory_unlock($1)', [PROJECTOR_LOCK]);
  });

async function projectFrom(services: ProjectionServices, client: PoolClient, signal: AbortSignal): Promise<void> {
  const { log, schemaVersion } = services;
  const checkpoint = await openCheckpoint(client, await log.state(), schemaVersion);
  const stop = new AbortController();
  // One before the checkpoint, where there is one: the log's own message there is the proof that it is the same log.
  const following = log.follow(Math.max(0, checkpoint.lastSeq - 1), AbortSignal.any([signal, stop.signal]));
  const facts = following[Symbol.asyncIterator]();
  try {
    if (!(await isProven(client, checkpoint, facts))) return;
    if (checkpoint.schemaVersion < schemaVersion) await inTransaction(client, () => wipe(client));
    else await projectOn(services, client, { checkpoint, facts, stop, signal });
  } catch (error) {
    throw error instanceof LogGap ? new ProjectionRefused('gap', error.message, { cause: error }) : error;
  } finally {
    stop.abort();
    await facts.return?.();
  }
}

/** Not proven where it was stopped before; a log that does not give the fact at all does not answer, and is asked again. */
async function isProven(client: PoolClient, checkpoint: Checkpoint, facts: AsyncIterator<RawFact>): Promise<boolean> {
  if (checkpoint.lastSeq === 0) return true;
  const answered = new AbortController();
  const tooLate = sleep(PROOF_WITHIN_MS, 'too late' as const, { signal: answered.signal }).catch(() => undefined);
  const first = await Promise.race([facts.next(), tooLate]);
  answered.abort();
  if (first === 'too late' || first === undefined)
    throw new Error(`The log does not give fact ${checkpoint.lastSeq}, which the read model has`);
  if (first.done !== true) await proveCheckpoint(client, checkpoint, first.value);
  return first.done !== true;
}

interface Standing {
  readonly checkpoint: Checkpoint;
  readonly facts: AsyncIterator<RawFact>;
  readonly stop: AbortController;
  readonly signal: AbortSignal;
}

/** While one batch is written, the next is read and made ready. */
async function projectOn(services: ProjectionServices, client: PoolClient, standing: Standing): Promise<void> {
  const { checkpoint, facts, stop, signal } = standing;
  const policies = await readPolicies(client);
  const links = linksAfter({ ...checkpoint, policies }, { [Symbol.asyncIterator]: () => facts });
  const inflow = new Inflow(links, MOST_BUFFERED);
  const end = () => inflow.end();
  signal.addEventListener('abort', end, { once: true });
  try {
    await writeAll(services, client, { checkpoint, inflow });
  } finally {
    signal.removeEventListener('abort', end);
    stop.abort();
    end();
    await inflow.closed;
  }
}

async function writeAll(
  { projections, report }: ProjectionServices,
  client: PoolClient,
  { checkpoint, inflow }: { readonly checkpoint: Checkpoint; readonly inflow: Inflow<Link> },
): Promise<void> {
  const write = async (from: Checkpoint, batch: Batch) =>
    told(await applyBatch(client, batch, { from, parked: report.parked }));
  const told = (at: Checkpoint) => {
    report.state({ is: 'projecting', seq: at.lastSeq });
    return at;
  };
  let writing = Promise.resolve(told(checkpoint));
  try {
    for (let links = await inflow.take(A_TRANSACTION); links.length > 0; links = await inflow.take(A_TRANSACTION)) {
      const batch = batchOf(links, projections);
      writing = write(await writing, batch);
      // It is heard where it is waited for; here only nothing more is waited for.
      writing.catch(() => inflow.end());
      if (links.length < A_TRANSACTION) await sleep(GATHER_MS);
    }
  } finally {
    await writing;
  }
}
