import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { Tenant } from '#contracts/ids';
import type { SimulatePolicy } from '#contracts/policies/commands';
import { placeOf } from '#contracts/subjects';
import { decodeFact } from '#event-log/codec';
import type { Log, RawFact } from '#event-log/log';
import { compilePolicy } from '#policy/compiled';
import { evolvePolicies, NO_POLICIES, type Policies } from '#policy/in-force';
import { Simulation, type SimulationLine, type Sums } from '#policy/simulation';

export type Line =
  | SimulationLine
  | { readonly type: 'progress'; readonly seq: number; readonly lastSeq: number; readonly calls: number }
  | ({ readonly type: 'sums'; readonly lastSeq: number } & Sums);

/** Messages of the log between two lines of progress. */
const PROGRESS_EVERY = 10_000;
const KINDS: ReadonlySet<string> = new Set(['req', 'dec', 'policy']);

/**
 * What a draft would have said of a tenant's recorded calls, in the order of the log. The log is read from its beginning, for
 * the policies that were in force, up to where it ends now; nothing is kept but what the draft would approve and nobody decided.
 */
export async function* simulate(
  log: Pick<Log, 'follow' | 'state'>,
  tenant: Tenant,
  draft: SimulatePolicy,
): AsyncGenerator<Line> {
  const { lastSeq } = await log.state();
  const simulation = new Simulation(compilePolicy(0, draft));
  const done = new AbortController();
  let policies = NO_POLICIES;
  try {
    for await (const raw of log.follow(0, done.signal)) {
      const fact = concerned(raw, tenant);
      if (fact) {
        yield* linesOf(simulation, fact, { policies, draft });
        policies = evolvePolicies(policies, fact);
      }
      if (raw.seq % PROGRESS_EVERY === 0)
        yield { type: 'progress', seq: raw.seq, lastSeq, calls: simulation.sums.calls };
      if (raw.seq >= lastSeq) break;
    }
  } finally {
    done.abort();
  }
  yield { type: 'sums', lastSeq, ...simulation.sums };
}

/** Others are not even read. */
function concerned(raw: RawFact, tenant: Tenant): Recorded<HoldpointEvent> | undefined {
  const { tenant: whose, kind } = placeOf(raw.subject);
  return whose === tenant && KINDS.has(kind) ? decodeFact<HoldpointEvent>(raw) : undefined;
}

interface At {
  readonly policies: Policies;
  readonly draft: SimulatePolicy;
}

function linesOf(
  simulation: Simulation,
  fact: Recorded<HoldpointEvent>,
  { policies, draft }: At,
): readonly SimulationLine[] {
  const { event } = fact;
  if (event.type === 'ToolApprovalDecided') return simulation.decided(fact, event.data);
  if (event.type !== 'ToolApprovalRequested' || !isWithin(draft, fact)) return [];
  return simulation.requested(fact, event.data, policies);
}

const isWithin = ({ fromSeq, untilSeq, from, until }: SimulatePolicy, { seq, occurredAt }: Recorded): boolean =>
  seq >= (fromSeq ?? 0) &&
  seq <= (untilSeq ?? Number.MAX_SAFE_INTEGER) &&
  (from === undefined || occurredAt >= from) &&
  (until === undefined || occurredAt <= until);
