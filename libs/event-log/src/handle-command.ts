import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { digestOf } from '#contracts/canonical';
import type { Actor, Fact, Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { instant, shortDigest, type Instant, type Tenant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import { subjectOf } from '#contracts/subjects';
import type { Decide } from '#decider/decider';
import type { FactReader } from '#fold/read';
import { Unavailable } from '#decider/unavailable';
import { LogFull, type Log } from './log.js';

/** Milliseconds since 1970 by this service's clock; throws `Unavailable` while it is not to be trusted (design 3.1). */
export type Clock = () => number;

export interface LogServices {
  readonly log: Log;
  readonly clock: Clock;
}

/** A use case: which part of the log it reads, and the pure rule over what was read. */
export interface Rule<Command, State, Context> {
  readonly read: (log: FactReader, tenant: Tenant, command: Command) => Promise<State>;
  /**
   * The state as it mostly is, from fewer reads or none: that what this command would write is not there. Tried first. The
   * broker refuses the fact where it is not so, and only a fact is taken from it: for any other answer the log is read whole.
   */
  readonly assume?: (
    log: FactReader,
    tenant: Tenant,
    command: Command,
  ) => State | undefined | Promise<State | undefined>;
  /** Reads what else this command may have written long ago, where what it is judged by does not show it. */
  readonly earlier?: (log: FactReader, tenant: Tenant, command: Command) => Promise<unknown>;
  readonly decide: Decide<Command, State, Context & { readonly now: Instant }, HoldpointEvent, Refusal>;
  /** The conversation, or whatever else facts of this kind belong together by. */
  readonly correlate: (command: Command, state: State) => string;
}

/** Who asks and how: everything of a command that is not in its body. */
export interface Request<Command, Context> {
  readonly command: Command;
  readonly context: Context;
  readonly tenant: Tenant;
  readonly actor: Actor;
  readonly causationId: string;
  readonly idempotencyKey?: string;
  readonly traceparent?: string;
}

export type Handled<State> =
  | { readonly kind: 'recorded'; readonly fact: Recorded<HoldpointEvent>; readonly state: State }
  | { readonly kind: 'nothing-to-do'; readonly state: State }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly state: State };

const BUDGET_MS = 8_000;

/**
 * Reads, decides and publishes once; where it is not certain who was first, runs the whole of it again (design 3.2).
 * A try that reads its own event has won, before the rule is asked again. Throws `Unavailable` past 8 s.
 */
export async function handleCommand<Command, State, Context>(
  services: LogServices,
  rule: Rule<Command, State, Context>,
  request: Request<Command, Context>,
): Promise<Handled<State>> {
  const handling = { services, rule, request, id: identify(request) };
  const until = Date.now() + BUDGET_MS;
  const assumed = await tryAssumed(handling);
  if (assumed?.kind === 'recorded') return assumed;
  while (Date.now() < until) {
    const handled = await tryOnce(handling).catch(unlessUnclear);
    if (handled) return handled;
    await sleep(20 + Math.random() * 80);
  }
  throw new Unavailable('The log did not say in time whether this was recorded; it is safe to try again');
}

/** A read that the log did not answer is tried again with the rest; only a log without room is given up at once. */
function unlessUnclear(error: unknown): undefined {
  if (error instanceof Unavailable && !(error instanceof LogFull)) return undefined;
  throw error;
}

interface CommandId {
  readonly eventId: string;
  readonly commandDigest?: string;
}

/** With an `Idempotency-Key` the event's id follows from it, so that the same request sent again finds its own event. */
function identify<Command, Context>({ tenant, actor, command, idempotencyKey }: Request<Command, Context>): CommandId {
  if (idempotencyKey === undefined) return { eventId: randomUUID() };
  const eventId = `ik_${shortDigest('idempotency', tenant, actor.id, idempotencyKey)}`;
  return { eventId, commandDigest: digestOf(command) };
}

/** One command on its way, the same through all of its tries. */
interface Handling<Command, State, Context> {
  readonly services: LogServices;
  readonly rule: Rule<Command, State, Context>;
  readonly request: Request<Command, Context>;
  readonly id: CommandId;
}

async function tryAssumed<Command, State, Context>(
  handling: Handling<Command, State, Context>,
): Promise<Handled<State> | undefined> {
  const { services, rule, request } = handling;
  try {
    const state = await rule.assume?.(services.log, request.tenant, request.command);
    return state === undefined ? undefined : await conclude(handling, state);
  } catch (error) {
    // A log without room still has an answer for who comes second.
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}

async function tryOnce<Command, State, Context>(
  handling: Handling<Command, State, Context>,
): Promise<Handled<State> | undefined> {
  const { services, rule, request, id } = handling;
  const seen = remembering(services.log);
  if (request.idempotencyKey !== undefined) await rule.earlier?.(seen, request.tenant, request.command);
  const state = await rule.read(seen, request.tenant, request.command);
  const mine = seen.find(id.eventId);
  if (mine) return sameCommand(mine, id) ? { kind: 'recorded', fact: mine, state } : reusedKey(state);
  return conclude(handling, state);
}

/** Asks the rule and publishes once. Nothing where it is not certain what came of it. */
async function conclude<Command, State, Context>(
  { services: { log, clock }, rule, request, id }: Handling<Command, State, Context>,
  state: State,
): Promise<Handled<State> | undefined> {
  const now = instant(clock());
  const answer = rule.decide(request.command, state, { ...request.context, now });
  if (answer.kind === 'nothing-to-do') return { kind: 'nothing-to-do', state };
  if (answer.kind === 'refuse') return { kind: 'refused', refusal: answer.refusal, state };

  const fact = factOf(request, id, {
    event: answer.event,
    occurredAt: now,
    correlationId: rule.correlate(request.command, state),
  });
  const appended = await log.append(fact);
  if (appended.is === 'stored') return { kind: 'recorded', fact: { ...fact, seq: appended.seq, storedAt: now }, state };
  if (appended.is === 'full') throw new LogFull(`The log takes no facts now: ${appended.why}`);
  return undefined;
}

const sameCommand = (fact: Recorded, id: CommandId): boolean => fact.commandDigest === id.commandDigest;
const reusedKey = <State>(state: State): Handled<State> => ({
  kind: 'refused',
  refusal: refusal('conflict', 'This Idempotency-Key was used before with another body'),
  state,
});

function factOf<Command, Context>(
  { tenant, actor, causationId, traceparent }: Request<Command, Context>,
  id: CommandId,
  happened: Pick<Fact<HoldpointEvent>, 'event' | 'occurredAt' | 'correlationId'>,
): Fact<HoldpointEvent> {
  const trace = traceparent === undefined ? {} : { traceparent };
  return { tenant, subject: subjectOf(tenant, happened.event), ...id, ...happened, actor, causationId, ...trace };
}

/** Keeps what was read, so that a command can recognise its own event among it. */
function remembering(log: FactReader): FactReader & { find(eventId: string): Recorded<HoldpointEvent> | undefined } {
  const seen: Recorded<HoldpointEvent>[] = [];
  const keep = (fact: Recorded<HoldpointEvent> | undefined) => {
    if (fact) seen.push(fact);
    return fact;
  };
  return {
    last: async (filter) => keep(await log.last(filter)),
    next: async (filter, fromSeq) => keep(await log.next(filter, fromSeq)),
    find: (eventId) => seen.find((fact) => fact.eventId === eventId),
  };
}
