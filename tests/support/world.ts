import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { bootstrap } from '#event-log/bootstrap';
import { connectBroker } from '#service/broker';
import { ROOT, startTestServers, type TestServers } from '#tools/test-servers';
import { api, type Api } from './api.js';

export type ServiceName = 'orchestrator' | 'approval-service' | 'gateway';
export const SERVICES: readonly ServiceName[] = ['orchestrator', 'approval-service', 'gateway'];
const ADMIN_TOKEN = 'hp_admin_for_tests_only_0123456789';

export interface WorldOptions {
  readonly cluster?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Which build of the services runs, and which makes the streams; the product's own where missing. */
  readonly dist?: string;
  /** The broker's address for one service, where something stands in between. */
  readonly natsUrlFor?: (name: ServiceName, url: string) => string;
  readonly servers?: Omit<NonNullable<Parameters<typeof startTestServers>[0]>, 'cluster'>;
}

/** The whole product on servers of its own: real processes, real NATS, real Postgres. */
export class World {
  private readonly processes = new Map<string, ChildProcess>();
  private stopped = false;

  private constructor(
    readonly servers: TestServers,
    private readonly ports: { readonly http: number; readonly metrics: number },
    private readonly options: WorldOptions,
  ) {}

  static async start(options: WorldOptions = {}): Promise<World> {
    const servers = await startTestServers({ ...options.servers, cluster: options.cluster ?? false });
    const world = new World(servers, { http: await freePort(), metrics: await freePort() }, options);
    const replicas = options.cluster ? 3 : 1;
    const open = await bootstrapOf(options.dist);
    await open({ url: world.natsUrl, seedFile: join(servers.credsDir, 'bootstrap.nk'), replicas });
    for (const name of SERVICES) world.startService(name);
    await world.ready();
    return world;
  }

  get natsUrl(): string {
    return this.options.cluster ? this.servers.clusterUrls.join(',') : this.servers.natsUrl;
  }
  /** What all its services have logged. */
  get logFile(): string {
    return join(this.servers.dir, 'services.log');
  }
  get url(): string {
    return `http://127.0.0.1:${this.ports.http}`;
  }
  get metricsUrl(): string {
    return `http://127.0.0.1:${this.ports.metrics}`;
  }

  /** As the administrator, in a tenant. */
  admin(tenant = 'default'): Api {
    return api(this.url, ADMIN_TOKEN, { 'Holdpoint-Tenant': tenant });
  }

  /** A new token's holder. */
  async as(subject: string, token: Readonly<Record<string, unknown>>, tenant = 'default'): Promise<Api> {
    const made = await this.admin(tenant).post('/v1/tokens', { name: subject, subject, ...token });
    if (made.status !== 201) throw new Error(`No token for ${subject}: ${JSON.stringify(made.body)}`);
    return api(this.url, String(made.body['token']));
  }
  agent = (subject = `agent-${randomUUID().slice(0, 8)}`, more = {}): Promise<Api> =>
    this.as(subject, { roles: ['agent'], ...more });
  approver = (subject = `ada-${randomUUID().slice(0, 8)}@example.com`): Promise<Api> =>
    this.as(subject, { roles: ['approver'] });

  /** `instance` tells two of one service apart; a second gateway listens on a port of its own. */
  startService(
    name: ServiceName,
    { instance = '', env = {} }: { instance?: string; env?: Record<string, string> } = {},
  ): void {
    const { dist = join(ROOT, 'dist') } = this.options;
    const child = spawn(process.execPath, [join(dist, 'apps', name, 'src', 'main.js')], {
      env: { ...cleanEnvironment(), ...this.environment(name), ...this.options.env, ...env },
      stdio: ['ignore', process.env['HOLDPOINT_TEST_LOGS'] ? 'inherit' : openSync(this.logFile, 'a'), 'inherit', 'ipc'],
    });
    this.processes.set(name + instance, child);
  }

  process(name: string): ChildProcess {
    const child = this.processes.get(name);
    if (!child) throw new Error(`No process ${name} was started`);
    return child;
  }

  async kill(name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.process(name);
    if (child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await exited;
    }
    this.processes.delete(name);
  }

  async ready(timeoutMs = 120_000): Promise<void> {
    await eventually(async () => {
      const answer = await fetch(`${this.url}/readyz`);
      if (answer.status !== 200) throw new Error(`not ready: ${await answer.text()}`);
    }, timeoutMs);
  }

  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    await Promise.all([...this.processes.keys()].map((name) => this.kill(name, 'SIGTERM')));
    await this.servers.stop();
  }

  /** How many `ContinueConversation` of a conversation are in the log, as the broker itself has it. */
  async storedCommands(conversationId: string): Promise<number> {
    const broker = await connectBroker(
      { natsUrl: this.natsUrl, natsCredsDir: this.servers.credsDir, natsCa: undefined },
      'gateway',
    );
    let count = 0;
    for (
      let fact = await broker.commands.next('hp.cmd.v1.>', 1);
      fact;
      fact = await broker.commands.next('hp.cmd.v1.>', fact.seq + 1)
    )
      if (fact.event.data.conversationId === conversationId) count += 1;
    await broker.close();
    return count;
  }

  private environment(name: ServiceName): Record<string, string> {
    return {
      HOLDPOINT_NATS_URL: this.options.natsUrlFor?.(name, this.natsUrl) ?? this.natsUrl,
      HOLDPOINT_NATS_CREDS_DIR: this.servers.credsDir,
      HOLDPOINT_DATABASE_URL: this.servers.databaseUrl,
      HOLDPOINT_ADMIN_TOKEN: ADMIN_TOKEN,
      HOLDPOINT_PORT: String(this.ports.http),
      HOLDPOINT_METRICS_PORT: String(this.ports.metrics),
      HOLDPOINT_LOG_LEVEL: process.env['HOLDPOINT_TEST_LOGS'] ?? 'error',
    };
  }
}

/** A build that is tried makes its own streams: what it would make of them is part of it. */
async function bootstrapOf(dist: string | undefined): Promise<typeof bootstrap> {
  if (dist === undefined) return bootstrap;
  const file = pathToFileURL(join(dist, 'libs/event-log/src/bootstrap.js')).href;
  const built = (await import(file)) as { readonly bootstrap: typeof bootstrap };
  return built.bootstrap;
}

/** Settings of whoever runs the tests do not reach the product under test. */
const cleanEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      name.startsWith('HOLDPOINT_') || value === undefined ? [] : [[name, value]],
    ),
  );

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No free port');
  return address.port;
}

/** Tries until it no longer throws; the last reason is the failure. */
export async function eventually<T>(attempt: () => Promise<T>, timeoutMs = 60_000): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(50);
    }
  }
}
