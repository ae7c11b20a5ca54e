import { randomUUID } from 'node:crypto';
import type { ContinuationCommand } from '#contracts/continuations/events';
import { shortDigest } from '#contracts/ids';
import { refusal } from '#contracts/refusals';
import { mayUsePool } from '#contracts/roles';
import { declined, reply, type Done, type LeaseTaken, type Reply, type TurnOpened } from '#contracts/rpc';
import type { ExtendLease, OpenTurn, PreparePool, ResumeTurn } from '#contracts/turns/commands';
import { handleCommand, type Handled, type LogServices, type Request, type Rule } from '#event-log/handle-command';
import type { Log } from '#event-log/log';
import type { PoliciesInForce } from '#policy/in-force';
import { extending } from './domain/hold-lease.js';
import { opening } from './domain/open-turn.js';
import { resuming } from './domain/resume-turn.js';
import type { ByCaller } from './domain/turn-state.js';

/** What the turns' commands need beside their rules. */
export interface TurnServices extends LogServices {
  readonly commands: Log<ContinuationCommand>;
  readonly policies: PoliciesInForce;
  readonly leaseSeconds: number;
  readonly preparePool: (tenant: Request<unknown, unknown>['tenant'], pool: string) => Promise<void>;
}

type Asked<Command> = Request<Command, ByCaller>;

export async function open(services: TurnServices, request: Asked<OpenTurn>): Promise<Reply<TurnOpened>> {
  const command = { ...request.command, turnId: request.command.turnId ?? madeTurnId(request) };
  const handled = await handleCommand(services, opening, { ...request, command });
  if (handled.kind === 'refused') return declined(handled.refusal);
  const { turnId, pool = 'default' } = command;
  await services.preparePool(request.tenant, pool);
  if (handled.kind === 'recorded') return reply({ turnId, created: true, seq: handled.fact.seq });
  const { turn } = handled.state;
  return reply({ turnId, created: false, seq: turn.state === 'unknown' ? 0 : turn.requestSeq });
}

/** For a token's own pools only: each pool is a subscription that stays. */
export async function prepare(
  { preparePool }: TurnServices,
  { tenant, command: { pool }, context: { caller } }: Asked<PreparePool>,
): Promise<Reply<{ readonly ok: true }>> {
  if (!mayUsePool(caller, pool))
    return declined(refusal('forbidden', `This token does not speak for the pool "${pool}"`));
  await preparePool(tenant, pool);
  return reply({ ok: true });
}

/** It follows from the Idempotency-Key where there is one, so that the same request sent again opens the same turn. */
function madeTurnId({ tenant, actor, idempotencyKey }: Asked<OpenTurn>): string {
  return `t_${shortDigest('turn-id', tenant, actor.id, idempotencyKey ?? randomUUID())}`;
}

export async function resume(services: TurnServices, request: Asked<ResumeTurn>): Promise<Reply<LeaseTaken>> {
  const context = { ...request.context, leaseSeconds: services.leaseSeconds };
  return leaseReply(
    await handleCommand(services, resuming(services.commands, services.policies), { ...request, context }),
  );
}

export async function extend(services: TurnServices, request: Asked<ExtendLease>): Promise<Reply<LeaseTaken>> {
  const context = { ...request.context, leaseSeconds: services.leaseSeconds };
  return leaseReply(await handleCommand(services, extending, { ...request, context }));
}

function leaseReply(handled: Handled<unknown>): Reply<LeaseTaken> {
  if (handled.kind === 'refused') return declined(handled.refusal);
  if (handled.kind === 'nothing-to-do') throw new Error('Taking or extending a lease always writes');
  const { event, seq } = handled.fact;
  if (event.type !== 'TurnResumed' && event.type !== 'LeaseExtended')
    throw new Error(`A lease was taken by ${event.type}`);
  return reply({ attempt: event.data.attempt, leaseUntil: event.data.leaseUntil, seq });
}

/** For rules that say no more than that it is done. */
export async function done<Command, State>(
  services: LogServices,
  rule: Rule<Command, State, ByCaller>,
  request: Asked<Command>,
): Promise<Reply<Done>> {
  const handled = await handleCommand(services, rule, request);
  if (handled.kind === 'refused') return declined(handled.refusal);
  if (handled.kind === 'recorded') return reply({ seq: handled.fact.seq, recorded: true });
  return reply({ seq: (await services.log.state()).lastSeq, recorded: false });
}
