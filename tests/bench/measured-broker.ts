import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findNats, startNats } from '#tools/servers/nats';
import { ROOT, type TestServers } from '#tools/test-servers';
import { freePort } from '../support/world.js';
import { residentBytesOf } from './processes.js';

type Running = Awaited<ReturnType<typeof startNats>>;
/** The broker lets go of what it cached of a block some ten seconds after its last use. */
const RESTING_MS = 12_000;

/** The same broker on the same files and port, with its own profiler and monitor open, to be asked what it holds. */
export class MeasuredBroker {
  private constructor(
    private readonly dir: string,
    private readonly options: Omit<Parameters<typeof startNats>[0], 'logFile'>,
    private readonly ports: { readonly profile: number; readonly monitor: number },
    private running: Running,
  ) {}

  static async insteadOf({ dir: serversDir, nats }: TestServers): Promise<MeasuredBroker> {
    await nats.kill();
    const dir = join(serversDir, 'nats');
    const ports = { profile: await freePort(), monitor: await freePort() };
    const config = JSON.parse(readFileSync(join(dir, 'nats.conf'), 'utf8')) as { server_name: string; port: number };
    const configFile = join(dir, 'measured.conf');
    const open = { http: `127.0.0.1:${ports.monitor}`, prof_port: ports.profile };
    writeFileSync(configFile, JSON.stringify({ ...config, ...open }), { mode: 0o600 });
    const binary = await findNats({ cacheDir: join(ROOT, '.holdpoint'), log: console.error });
    const options = { binary, dir, port: config.port, configFile, serverName: config.server_name };
    return new MeasuredBroker(dir, options, ports, await startNats(options));
  }

  /** Seconds until it answers again. */
  async restart(how: 'stopped' | 'killed' | 'without its index'): Promise<number> {
    if (how === 'killed') process.kill(this.running.pid, 'SIGKILL');
    await (how === 'killed' ? this.running.exited : this.running.stop());
    if (how === 'without its index')
      this.files()
        .filter(isIndex)
        .forEach(({ path }) => rmSync(path));
    const begun = performance.now();
    this.running = await startNats(this.options);
    return (performance.now() - begun) / 1_000;
  }

  stop = (): Promise<void> => this.running.stop();
  get pid(): number {
    return this.running.pid;
  }

  /** What is alive on its heap after a collection, once it rests, and what the system has given it. */
  async memory() {
    await sleep(RESTING_MS);
    const text = await (await fetch(`http://127.0.0.1:${this.ports.profile}/debug/pprof/heap?gc=1&debug=1`)).text();
    const heapBytes = Number(/# HeapAlloc = (\d+)/.exec(text)?.[1]);
    return { heapBytes, rssBytes: residentBytesOf(this.pid) };
  }

  async interest() {
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${this.ports.monitor}${path}`)).json();
    const [{ connections, subscriptions }, { consumers }] = (await Promise.all([ask('/varz'), ask('/jsz')])) as [
      { connections: number; subscriptions: number },
      { consumers: number },
    ];
    return { connections, subscriptions, consumers };
  }

  /** Bytes on disk of one stream: messages, the index of their subjects, and its consumers' state. */
  diskOf(stream: string) {
    const ofStream = this.files().filter(({ path }) => path.includes(`/streams/${stream}/`));
    const sum = (files: readonly FileSize[]) => files.reduce((bytes, file) => bytes + file.bytes, 0);
    return {
      messagesBytes: sum(ofStream.filter(({ path }) => path.endsWith('.blk'))),
      indexBytes: sum(ofStream.filter(isIndex)),
      consumersBytes: sum(ofStream.filter(({ path }) => path.includes('/obs/'))),
    };
  }

  private files(): FileSize[] {
    return readdirSync(join(this.dir, 'jetstream'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path, bytes: statSync(path).size }));
  }
}

interface FileSize {
  readonly path: string;
  readonly bytes: number;
}
const isIndex = ({ path }: FileSize): boolean => path.endsWith('/msgs/index.db');
