import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, type ApprovalId, type Tenant, type TurnKey } from '#contracts/ids';
import { placeOf, subjects } from '#contracts/subjects';
import { evolveApproval, NEW_APPROVAL, type Approval } from './approval.js';
import { evolveTurn, UNKNOWN_TURN, type KnownTurn, type Turn } from './turn.js';

/** What folding needs of the log: leader reads, always current. */
export interface FactReader<Event = HoldpointEvent> {
  /** The newest fact under an exact subject, or under a filter with wildcards (at its tail, or one for the tenant). */
  last(filter: string): Promise<Recorded<Event> | undefined>;
  /** The oldest fact under a filter at or after a sequence. */
  next(filter: string, fromSeq: number): Promise<Recorded<Event> | undefined>;
}

type MaybeFact = Recorded<HoldpointEvent> | undefined;
const fold = <State>(
  evolve: (state: State, fact: Recorded<HoldpointEvent>) => State,
  start: State,
  facts: MaybeFact[],
): State =>
  facts
    .filter((fact) => fact !== undefined)
    .sort((a, b) => a.seq - b.seq)
    .reduce(evolve, start);

/**
 * The newest fact says how far a turn has come: while that is the request, there is nothing else. Of the leases the last is
 * enough: it says who has the turn and since when.
 */
export async function readTurn(log: FactReader, tenant: Tenant, turnKey: TurnKey): Promise<Turn> {
  const newest = await log.last(subjects.story(tenant, turnKey));
  if (!newest || newest.event.type === 'ToolApprovalRequested') return fold(evolveTurn, UNKNOWN_TURN, [newest]);
  const isLease = newest.subject.startsWith(subjects.leases(tenant, turnKey).slice(0, -1));
  const facts = await Promise.all([
    log.last(subjects.request(tenant, turnKey)),
    isLease ? newest : log.last(subjects.leases(tenant, turnKey)),
    log.last(subjects.end(tenant, turnKey)),
  ]);
  return fold(evolveTurn, UNKNOWN_TURN, facts);
}

/** Nothing can be taken, used or reported before there is a decision: while that is the newest fact, only steps can be before it. */
export async function readApproval(log: FactReader, tenant: Tenant, id: ApprovalId): Promise<Approval> {
  const newest = await log.last(subjects.story(tenant, id));
  if (!newest) return NEW_APPROVAL;
  if (newest.event.type === 'ToolApprovalDecided')
    return fold(evolveApproval, NEW_APPROVAL, [...(await stepsBefore(log, newest)), newest]);
  const [decision, ...later] = await Promise.all([
    log.last(subjects.decision(tenant, id)),
    log.last(subjects.use(tenant, id)),
    log.last(subjects.outcome(tenant, id)),
    log.last(subjects.leases(tenant, id)),
  ]);
  const steps = decision ? await stepsBefore(log, decision) : await readSteps(log, tenant, id);
  return fold(evolveApproval, NEW_APPROVAL, [...steps, decision, ...later]);
}

/** A decision says how many steps it goes by. */
async function stepsBefore(log: FactReader, decision: Recorded<HoldpointEvent>): Promise<MaybeFact[]> {
  const { event, tenant } = decision;
  const count = event.type === 'ToolApprovalDecided' ? (event.data.steps ?? 0) : 0;
  return count === 0 || event.type !== 'ToolApprovalDecided'
    ? []
    : readSteps(log, tenant, event.data.approvalId, count);
}

/** The first `count` steps, or all. Where one is not to be had the story ends before it: a step after that finds its place taken. */
async function readSteps(log: FactReader, tenant: Tenant, id: ApprovalId, count?: number): Promise<MaybeFact[]> {
  const all = count ?? numberOf(await log.last(subjects.steps(tenant, id)));
  const numbers = Array.from({ length: all }, (_, index) => index + 1);
  const steps = await Promise.all(numbers.map((n) => log.last(subjects.step(tenant, id, n))));
  const missing = steps.indexOf(undefined);
  return missing < 0 ? steps : steps.slice(0, missing);
}

const numberOf = (step: MaybeFact): number => (step && 'n' in step.event.data ? step.event.data.n : 0);

export interface WholeTurn {
  readonly turn: KnownTurn;
  readonly approvals: readonly Approval[];
}

/** A turn with all its approvals, or nothing where the log has no such turn. */
export async function readWholeTurn(log: FactReader, tenant: Tenant, turnKey: TurnKey): Promise<WholeTurn | undefined> {
  // A turn has at least one call, and mostly just one: it need not wait for the turn to be read.
  const read = (index: number) => readApproval(log, tenant, approvalIdOf(turnKey, index));
  const [turn, first] = await Promise.all([readTurn(log, tenant, turnKey), read(0)]);
  if (turn.state === 'unknown') return undefined;
  const others = await Promise.all(turn.request.toolCalls.slice(1).map((_, index) => read(index + 1)));
  return { turn, approvals: [first, ...others] };
}

/** The same from every fact of a turn and its approvals, in the order of the log. */
export function foldWholeTurn(facts: readonly Recorded<HoldpointEvent>[], turnKey: TurnKey): WholeTurn | undefined {
  const turn = facts.reduce(evolveTurn, UNKNOWN_TURN);
  if (turn.state === 'unknown') return undefined;
  const approvals = turn.request.toolCalls.map((_, index) => {
    const id = approvalIdOf(turnKey, index);
    return facts.filter(({ subject }) => placeOf(subject).id === id).reduce(evolveApproval, NEW_APPROVAL);
  });
  return { turn, approvals };
}

/** Every fact about one turn or approval, in the order of the log. */
export async function readStory(log: FactReader, filter: string, fromSeq = 1): Promise<Recorded<HoldpointEvent>[]> {
  const facts: Recorded<HoldpointEvent>[] = [];
  for (let fact = await log.next(filter, fromSeq); fact; fact = await log.next(filter, fact.seq + 1)) facts.push(fact);
  return facts;
}
