import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  jetstreamManager,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
  StoreCompression,
  type ConsumerConfig,
  type JetStreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import { connect, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { instant } from '#contracts/ids';
import { COMMANDS_STREAM, EPOCH, EVENTS_STREAM, subjects, SYSTEM_TENANT } from '#contracts/subjects';
import { ACK_WAIT_MS, DURABLES, PROJECTOR } from './durables.js';
import { JetStreamLog } from './jetstream-log.js';

export interface BootstrapOptions {
  readonly url: string;
  /** File with the seed of the bootstrap identity, the only one that may create streams. */
  readonly seedFile: string;
  readonly ca?: string;
  /** 1 on a single server, 3 in production. */
  readonly replicas: number;
}

const OLDEST_SERVER = [2, 14] as const;
const CONNECT_TIMEOUT_MS = 20_000;
const NO_DUPLICATE_WINDOW_NS = 100_000_000;
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
const ACK_WAIT_NS = ACK_WAIT_MS * 1_000_000;
const STREAM_NOT_FOUND = 10059;
const CONSUMER_NOT_FOUND = 10014;
const NO_SUITABLE_PEERS = 10005;
const GATHER_MS = 30_000;
const GATHER_AGAIN_MS = 250;

/** Makes the streams and standing subscriptions where they are missing, reads them back, and refuses whatever differs. */
export async function bootstrap(options: BootstrapOptions): Promise<void> {
  const connection = await connectAsBootstrap(options);
  try {
    refuseOldServer(connection);
    const manager = await jetstreamManager(connection);
    for (const [name, subject] of [
      [EVENTS_STREAM, 'hp.v1.>'],
      [COMMANDS_STREAM, 'hp.cmd.v1.>'],
    ] as const)
      await ensureStream(manager, streamConfig(name, subject, options.replicas));
    for (const consumer of consumerConfigs(options.replicas)) await ensureConsumer(manager, consumer);
    await openLog(connection, manager);
  } finally {
    await connection.close();
  }
}

const connectAsBootstrap = ({ url, seedFile, ca }: BootstrapOptions): Promise<NatsConnection> =>
  connect({
    servers: url.split(','),
    authenticator: nkeyAuthenticator(new TextEncoder().encode(readFileSync(seedFile, 'utf8').trim())),
    inboxPrefix: '_INBOX.bootstrap',
    name: 'bootstrap',
    timeout: CONNECT_TIMEOUT_MS,
    waitOnFirstConnect: true,
    maxReconnectAttempts: 40,
    reconnectTimeWait: 500,
    ...(ca === undefined ? {} : { tls: { caFile: ca } }),
  });

function refuseOldServer({ info }: NatsConnection): void {
  const [major = 0, minor = 0] = (info?.version ?? '').split('.').map(Number);
  if (major > OLDEST_SERVER[0] || (major === OLDEST_SERVER[0] && minor >= OLDEST_SERVER[1])) return;
  throw new Error(
    `The NATS server is ${info?.version}; Holdpoint needs ${OLDEST_SERVER.join('.')} or newer, because older ones can corrupt a guarded write`,
  );
}

/** One message a subject for ever: exactly one decision is the broker's promise, not the code's care (design 3.1). */
function streamConfig(name: string, subject: string, replicas: number) {
  return {
    name,
    subjects: [subject],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_msgs_per_subject: 1,
    discard_new_per_subject: true,
    deny_delete: true,
    deny_purge: true,
    allow_rollup_hdrs: false,
    allow_msg_ttl: false,
    allow_msg_schedules: false,
    allow_msg_counter: false,
    allow_atomic: false,
    allow_batched: false,
    max_age: 0,
    max_msgs: -1,
    max_bytes: -1,
    max_consumers: -1,
    max_msg_size: MAX_MESSAGE_BYTES,
    duplicate_window: NO_DUPLICATE_WINDOW_NS,
    // nats-server 2.15.1 damages compressed blocks when it is killed while it writes (docs/decisions/0017).
    compression: StoreCompression.None,
    num_replicas: replicas,
    no_ack: false,
    sealed: false,
    mirror_direct: false,
  } satisfies Partial<StreamConfig> & Record<string, unknown>;
}

type WantedStream = ReturnType<typeof streamConfig>;

async function ensureStream(manager: JetStreamManager, wanted: WantedStream): Promise<void> {
  if (!(await found(manager.streams.info(wanted.name), STREAM_NOT_FOUND)))
    await whenAllAreThere(() => manager.streams.add(wanted));
  const { config } = await manager.streams.info(wanted.name);
  refuseDifference(`stream ${wanted.name}`, wanted, { ...config });
  for (const other of ['mirror', 'sources', 'republish', 'subject_transform'] as const)
    if (config[other])
      throw new Error(
        `The stream ${wanted.name} has ${other}, which Holdpoint does not use: another program changed it`,
      );
}

/** A cluster that has just begun has a leader before it has everybody. */
async function whenAllAreThere<Made>(make: () => Promise<Made>): Promise<Made> {
  for (const until = Date.now() + GATHER_MS; ; await sleep(GATHER_AGAIN_MS)) {
    try {
      return await make();
    } catch (error) {
      const isShort = error instanceof JetStreamApiError && error.code === NO_SUITABLE_PEERS;
      if (!isShort || Date.now() > until) throw error;
    }
  }
}

function consumerConfigs(replicas: number): ConsumerConfigOf[] {
  const common = { deliver_policy: DeliverPolicy.All, replay_policy: ReplayPolicy.Instant, num_replicas: replicas };
  const durables = Object.entries(DURABLES).map(([durable_name, filter_subjects]) => ({
    ...common,
    durable_name,
    filter_subjects: [...filter_subjects],
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_NS,
    max_deliver: -1,
    max_ack_pending: 1_000,
  }));
  return [...durables, { ...common, durable_name: PROJECTOR, ack_policy: AckPolicy.None }];
}
type ConsumerConfigOf = Partial<ConsumerConfig> & { readonly durable_name: string };

async function ensureConsumer(manager: JetStreamManager, wanted: ConsumerConfigOf): Promise<void> {
  const existing = manager.consumers.info(EVENTS_STREAM, wanted.durable_name);
  if (!(await found(existing, CONSUMER_NOT_FOUND))) await manager.consumers.add(EVENTS_STREAM, wanted);
  const { config } = await manager.consumers.info(EVENTS_STREAM, wanted.durable_name);
  refuseDifference(`consumer ${wanted.durable_name}`, wanted, { ...config, ...oneFilterAsList(config) });
}

const oneFilterAsList = ({ filter_subject }: ConsumerConfig) =>
  filter_subject ? { filter_subjects: [filter_subject] } : {};

async function found(info: Promise<unknown>, notFound: number): Promise<boolean> {
  try {
    await info;
    return true;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === notFound) return false;
    throw error;
  }
}

/** The server leaves fields out that are at their default, and flips some silently: each one is compared. */
function refuseDifference(what: string, wanted: object, actual: Record<string, unknown>): void {
  for (const [field, value] of Object.entries(wanted)) {
    const there = actual[field] ?? (typeof value === 'boolean' ? false : value === 0 ? 0 : undefined);
    if (JSON.stringify(there) !== JSON.stringify(value))
      throw new Error(
        `The ${what} has ${field} ${JSON.stringify(there)} where Holdpoint needs ${JSON.stringify(value)}; it was made or changed by something else`,
      );
  }
}

/** The log's first fact. Where it is there already, this is the same log as before. */
async function openLog(connection: NatsConnection, manager: JetStreamManager): Promise<void> {
  const log = new JetStreamLog(connection, manager, {
    stream: EVENTS_STREAM,
    source: 'bootstrap',
    following: { by: 'ordered-consumer' },
  });
  const logId = randomUUID();
  const appended = await log.append({
    tenant: SYSTEM_TENANT,
    subject: subjects.genesis,
    event: { type: 'LogOpened', data: { epoch: EPOCH, logId } },
    eventId: logId,
    occurredAt: instant(Date.now()),
    correlationId: 'genesis',
    causationId: 'bootstrap',
    actor: { kind: 'service', id: 'bootstrap', via: 'bootstrap' },
  });
  if (appended.is === 'unclear' || appended.is === 'full')
    throw new Error(`The log could not be opened: ${appended.why}`);
}
