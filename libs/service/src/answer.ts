import type { ActorKind } from '#contracts/envelope';
import { parse } from '#contracts/parse';
import { refusal } from '#contracts/refusals';
import { hasRole, type Caller } from '#contracts/roles';
import { declined, reply, type Ask, type Done, type Reply } from '#contracts/rpc';
import type { Role } from '#contracts/tokens/events';
import type { Handled, LogServices, Request } from '#event-log/handle-command';
import { Unavailable } from '#decider/unavailable';
import type { Callers } from './callers.js';

/** What a feature needs whose commands come in by the request/reply door. */
export interface AskedServices extends LogServices {
  readonly callers: Callers;
}

/** A command that came in by the request/reply door: parsed, and with its caller known. */
export interface Asked<Command> {
  readonly command: Command;
  readonly caller: Caller;
  readonly request: Request<Command, { readonly caller: Caller }>;
}

interface Door<Command extends object> {
  readonly shape: new () => Command;
  /** Who may ask at all; none named: whoever has a good token. */
  readonly roles: readonly Role[];
  readonly actorKind: ActorKind;
}

/** The second door: the token is checked here and now, by the service that decides, whatever the gateway thought of it. */
export async function answer<Command extends object, Value>(
  callers: Callers,
  { shape, roles, actorKind }: Door<Command>,
  ask: Ask,
  run: (asked: Asked<Command>) => Promise<Reply<Value>>,
): Promise<Reply<Value>> {
  if (!isAsk(ask)) return declined(refusal('invalid-input', 'The question is not one that a gateway asks'));
  try {
    const caller = await callers.identify(ask.token, ask.tenant);
    if (!caller) return declined(refusal('unauthenticated', 'The token is unknown, expired or revoked'));
    if (roles.length > 0 && !hasRole(caller, ...roles))
      return declined(refusal('forbidden', `This needs the role ${roles.join(' or ')}`));
    const parsed = parse(shape, ask.body);
    if (!parsed.ok) return declined(refusal('invalid-input', 'The request is not valid', { errors: parsed.errors }));
    return await run({ command: parsed.value, caller, request: requestOf(ask, parsed.value, caller, actorKind) });
  } catch (error) {
    if (error instanceof Unavailable) return declined(refusal('unavailable', error.message, { recorded: 'unknown' }));
    throw error;
  }
}

/** Of the fact that was written, or of the one that made writing needless. */
export function doneReply<State>(handled: Handled<State>, seqOf: (state: State) => number): Reply<Done> {
  if (handled.kind === 'refused') return declined(handled.refusal);
  if (handled.kind === 'recorded') return reply({ seq: handled.fact.seq, recorded: true });
  return reply({ seq: seqOf(handled.state), recorded: false });
}

/** Whoever may ask on this subject is a gateway, but not always a good one: what it says of the caller is text or not there. */
function isAsk(ask: unknown): ask is Ask {
  if (typeof ask !== 'object' || ask === null) return false;
  const { token, tenant, idempotencyKey, traceparent } = ask as Partial<Record<string, unknown>>;
  const isTextOrMissing = (value: unknown) => value === undefined || typeof value === 'string';
  return typeof token === 'string' && [tenant, idempotencyKey, traceparent].every(isTextOrMissing);
}

function requestOf<Command>(ask: Ask, command: Command, caller: Caller, kind: ActorKind): Asked<Command>['request'] {
  return {
    command,
    context: { caller },
    tenant: caller.tenant,
    actor: { kind, id: caller.subject, via: `token:${caller.tokenId}` },
    causationId: `request:${caller.tokenId}`,
    ...(ask.idempotencyKey === undefined ? {} : { idempotencyKey: ask.idempotencyKey }),
    ...(ask.traceparent === undefined ? {} : { traceparent: ask.traceparent }),
  };
}
