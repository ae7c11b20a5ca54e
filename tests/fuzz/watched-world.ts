import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { connectBroker, type Broker } from '#service/broker';
import { ROOT } from '#tools/test-servers';
import { eventually, SERVICES, World, type ServiceName } from '../support/world.js';

export interface Held {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
  /** Nothing where the system does not tell. */
  readonly files: number | undefined;
}

const PROBE = pathToFileURL(join(ROOT, 'tests/fuzz/probe.mjs')).href;
const ERROR_LEVEL = 50;
const SETTLE_MS = 1_500;
const MEASURE_MS = 30_000;

/** The whole product with an ear at each service: what it logged, what broke inside, and what it holds. */
export class WatchedWorld {
  private readonly troubles: string[] = [];
  private logRead = 0;

  private constructor(
    readonly world: World,
    readonly broker: Broker,
  ) {
    for (const name of SERVICES) this.listenTo(name);
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<WatchedWorld> {
    const world = await World.start({ env: { NODE_OPTIONS: `--import=${PROBE}`, ...env } });
    const settings = { natsUrl: world.natsUrl, natsCredsDir: world.servers.credsDir, natsCa: undefined };
    const watched = new WatchedWorld(world, await connectBroker(settings, 'gateway'));
    await watched.untilReadModelIsThere();
    return watched;
  }

  get port(): number {
    return Number(new URL(this.world.url).port);
  }

  /** What went wrong since it was asked last: a process that ended, an error that was logged, a warning of Node itself. */
  takeTroubles(): readonly string[] {
    return [...this.troubles.splice(0), ...this.loggedErrors()];
  }

  /** After a collection. */
  measure(name: ServiceName): Promise<Held> {
    const child = this.world.process(name);
    return new Promise((resolve, reject) => {
      const tooLong = setTimeout(() => reject(new Error(`${name} did not say what it holds`)), MEASURE_MS);
      const hear = (message: unknown) => {
        if ((message as { fuzz?: string }).fuzz !== 'measured') return;
        clearTimeout(tooLong);
        child.off('message', hear);
        resolve(message as Held);
      };
      child.on('message', hear);
      child.send({ fuzz: 'measure' });
    });
  }

  async stop(): Promise<void> {
    await this.broker.close();
    await this.world.stop();
  }

  /** On a first start services report that the read model is not made yet: that is no trouble. */
  private async untilReadModelIsThere(): Promise<void> {
    await eventually(async () => {
      const { status } = await this.world.admin().get('/v1/approvals');
      if (status !== 200) throw new Error(`The read model is not there: ${status}`);
    });
    await sleep(SETTLE_MS);
    this.loggedErrors();
  }

  private listenTo(name: ServiceName): void {
    const child = this.world.process(name);
    child.on('message', (message: { fuzz?: string; what?: string }) => {
      if (message.fuzz === 'trouble') this.troubles.push(`${name}: ${message.what ?? ''}`);
    });
    child.on('exit', (code, signal) => {
      if (code !== 0) this.troubles.push(`${name} ended with ${code ?? signal}`);
    });
  }

  private loggedErrors(): readonly string[] {
    const lines = readFileSync(this.world.logFile, 'utf8').slice(this.logRead);
    const whole = lines.slice(0, lines.lastIndexOf('\n') + 1);
    this.logRead += whole.length;
    return whole.split('\n').filter(isError);
  }
}

/** What is no line of the log was written by something that broke. */
function isError(line: string): boolean {
  if (line === '') return false;
  if (!line.startsWith('{')) return true;
  return (JSON.parse(line) as { level: number }).level >= ERROR_LEVEL;
}
