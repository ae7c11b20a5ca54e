import { EventEmitter } from 'node:events';
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type Consumer,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { connect, nkeyAuthenticator, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import type { ContinuationCommand } from '#contracts/continuations/events';
import type { Tenant } from '#contracts/ids';
import { COMMANDS_STREAM, EVENTS_STREAM, subjects } from '#contracts/subjects';
import { poolDurable, PROJECTOR } from '#event-log/durables';
import type { Clock } from '#event-log/handle-command';
import { JetStreamLog, untilAborted } from '#event-log/jetstream-log';
import { deliveryOf } from '#event-log/jetstream-message';
import type { Delivery, Log } from '#event-log/log';
import { brokerTimeOf, CheckedClock } from './clock.js';
import { seedOf, type Settings } from './settings.js';

export type Identity = 'orchestrator' | 'approval-service' | 'gateway';

export type BrokerSettings = Pick<Settings, 'natsUrl' | 'natsCredsDir' | 'natsCa'>;

export interface Pull {
  readonly max: number;
  readonly expiresMs: number;
  readonly signal: AbortSignal;
}

/** A service's way to the log: its own identity, its own permissions. */
export interface Broker {
  readonly connection: NatsConnection;
  readonly events: Log;
  readonly commands: Log<ContinuationCommand>;
  readonly clock: Clock;
  readonly clockIsAstray: () => boolean;
  /** Called whenever the connection was lost and is there again: it may lead to another log. */
  onReconnect(listener: () => void): void;
  /** For Nest's request/reply transport, which keeps a connection of its own. */
  readonly natsOptions: NodeConnectionOptions;
  /** Makes the pool's subscription on COMMANDS; orchestrator only. */
  preparePool(tenant: Tenant, pool: string): Promise<void>;
  /** What the pool's subscription offers, until that many, that long, or aborted; gateway only. */
  pullPool(durable: string, pull: Pull): AsyncIterable<Delivery<ContinuationCommand>>;
  close(): Promise<void>;
}

/** A continuation that a worker was given and did not take is offered again after that. */
const POOL_ACK_WAIT_NS = 10_000_000_000;
const PULLS_WAITING_MAX = 100_000;

export async function connectBroker(settings: BrokerSettings, identity: Identity): Promise<Broker> {
  const natsOptions = connectionOptions(settings, identity);
  const connection = await connect(natsOptions);
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const clock = new CheckedClock(brokerTimeOf(manager));
  await clock.check();
  const prepared = new Set<string>();
  const pools = new PoolConsumers(jetstream(connection));
  const events = new JetStreamLog(connection, manager, {
    stream: EVENTS_STREAM,
    source: identity,
    following: identity === 'approval-service' ? { by: 'durable', name: PROJECTOR } : { by: 'ordered-consumer' },
  });
  const commands = new JetStreamLog<ContinuationCommand>(connection, manager, {
    stream: COMMANDS_STREAM,
    source: identity,
    following: { by: 'ordered-consumer' },
  });
  const reconnected = new EventEmitter();
  void whenReconnected(connection, () => reconnected.emit('reconnect'));
  reconnected.on('reconnect', () => [events, commands].forEach((log) => log.forget()));
  return {
    connection,
    natsOptions,
    events,
    commands,
    onReconnect: (listener) => void reconnected.on('reconnect', listener),
    clock: clock.now,
    clockIsAstray: clock.isAstray,
    preparePool: (tenant, pool) => preparePool(manager, prepared, { tenant, pool }),
    pullPool: (durable, pull) => pullPool(pools, durable, pull),
    close: async () => {
      clock.stop();
      await connection.drain();
    },
  };
}

/** Reconnects for ever; the default gives up after ten tries while the process stays up. */
function connectionOptions(settings: BrokerSettings, identity: Identity): NodeConnectionOptions {
  return {
    servers: settings.natsUrl.split(','),
    authenticator: nkeyAuthenticator(seedOf(settings, identity)),
    inboxPrefix: `_INBOX.${identity}`,
    name: identity,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: 10_000,
    timeout: 3_000,
    // A stack kept for each request, for the few that fail, costs more than the request.
    noAsyncTraces: true,
    ...(settings.natsCa === undefined ? {} : { tls: { caFile: settings.natsCa } }),
  };
}

/** Nothing is kept waiting for an acknowledgement by one worker: a stuck worker cannot stop a pool. */
async function preparePool(
  manager: JetStreamManager,
  prepared: Set<string>,
  { tenant, pool }: { tenant: Tenant; pool: string },
): Promise<void> {
  const durable_name = poolDurable(tenant, pool);
  if (prepared.has(durable_name)) return;
  await manager.consumers.add(COMMANDS_STREAM, {
    durable_name,
    filter_subject: subjects.pool(tenant, pool),
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    ack_wait: POOL_ACK_WAIT_NS,
    max_deliver: -1,
    max_ack_pending: -1,
    max_waiting: PULLS_WAITING_MAX,
  });
  prepared.add(durable_name);
}

async function* pullPool(
  pools: PoolConsumers,
  durable: string,
  { max, expiresMs, signal }: Pull,
): AsyncIterable<Delivery<ContinuationCommand>> {
  const consumer = await pools.get(durable);
  let brought = 0;
  try {
    const messages = await consumer.fetch({ max_messages: max, expires: Math.max(1_000, expiresMs) });
    for await (const message of untilAborted(messages, signal)) {
      brought += 1;
      yield deliveryOf<ContinuationCommand>(message);
    }
  } finally {
    if (brought === 0) pools.forget(durable);
  }
}

/** Handles on the pools' subscriptions: the broker is asked again whether one is still there only after it brought nothing. */
class PoolConsumers {
  private readonly known = new Map<string, Promise<Consumer>>();

  constructor(private readonly client: JetStreamClient) {}

  get(durable: string): Promise<Consumer> {
    const known = this.known.get(durable);
    if (known) return known;
    const asked = this.client.consumers.get(COMMANDS_STREAM, durable);
    this.known.set(durable, asked);
    asked.catch(() => this.forget(durable));
    return asked;
  }

  forget(durable: string): void {
    this.known.delete(durable);
  }
}

async function whenReconnected(connection: NatsConnection, then: () => void): Promise<void> {
  for await (const { type } of connection.status()) if (type === 'reconnect') then();
}
