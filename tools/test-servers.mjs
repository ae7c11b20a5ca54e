// @ts-check
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureKeys } from '../deploy/nats/keys.mjs';
import { writeBrokerConfig } from './servers/broker-folder.mjs';
import { findNats, startNats } from './servers/nats.mjs';
import { startPostgres } from './servers/postgres.mjs';
import { freePort, signalQuietly, sleep, Unable } from './servers/processes.mjs';

/** The project's folder, also for code that was built into another. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(ROOT, '.holdpoint');
const CLUSTER_SIZE = 3;
const CLUSTER_TRIES = 100;

/**
 * @typedef {Awaited<ReturnType<typeof startTestServers>>} TestServers
 * @typedef {{ url: string, name: string, pid: () => number, kill: () => Promise<void>, pause: () => void, resume: () => void, restart: () => Promise<void>, stop: () => Promise<void> }} TestNats
 * @typedef {(from: number, to: number, port: number) => Promise<number>} Between
 * `kill` as by the power cut, `pause` as by a long stall; `restart` starts again what was killed, on the same port and files.
 */

/**
 * Real servers for tests, in a folder outside of the project, with the real permissions: one NATS, three more that replicate
 * where asked for, and a Postgres in which the tests make their databases. `syncAlways: false` for filling a log whose writing
 * is not what is measured; `fastDatabase: false` for a Postgres that is as durable as anyone's. `natsDir` is where the one NATS
 * has its files, and `between` gives the port at which one server of the three finds another, where something stands between.
 * @param {{ cluster?: boolean, syncAlways?: boolean, fastDatabase?: boolean, natsDir?: string, between?: Between }} [wanted]
 */
export async function startTestServers({
  cluster = false,
  syncAlways = true,
  fastDatabase = true,
  natsDir,
  between,
} = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'holdpoint-test-'));
  chmodSync(dir, 0o755);
  const binary = await findNats({ cacheDir: CACHE, log: console.error });
  const credsDir = join(dir, 'creds');
  const publicKeys = ensureKeys(credsDir);
  const started = await Promise.allSettled([
    startOne({ dir: natsDir ?? join(dir, 'nats'), binary, publicKeys, syncAlways }),
    cluster ? startCluster({ dir, binary, publicKeys, credsDir, ...(between ? { between } : {}) }) : [],
    startDatabase(join(dir, 'postgres'), fastDatabase),
  ]);
  const servers = started.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  // A test run that dies leaves nothing running.
  const killAll = () => servers.forEach(({ pid }) => signalQuietly(typeof pid === 'function' ? pid() : pid, 'SIGKILL'));
  process.once('exit', killAll);
  const stop = async () => {
    process.off('exit', killAll);
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(dir, { recursive: true, force: true });
  };
  const [nats, clusterNats, postgres] = started;
  if (nats.status === 'fulfilled' && clusterNats.status === 'fulfilled' && postgres.status === 'fulfilled')
    return {
      natsUrl: nats.value.url,
      clusterUrls: clusterNats.value.map(({ url }) => url),
      credsDir,
      databaseUrl: postgres.value.url,
      dir,
      nats: nats.value,
      postgres: postgres.value,
      clusterNats: clusterNats.value,
      stop,
    };
  await stop();
  throw started.find((one) => one.status === 'rejected')?.reason;
}

/** `restart` starts again what was stopped, on the same port and files. @param {string} dir @param {boolean} fast */
async function startDatabase(dir, fast) {
  const port = await freePort();
  const start = () => startPostgres({ dir, port, fast });
  let server = await start();
  return {
    url: server.url,
    pid: () => server.pid,
    kill: () => server.stop(),
    stop: () => server.stop(),
    restart: async () => {
      await server.stop();
      server = await start();
    },
  };
}

/**
 * @param {{ dir: string, binary: string, publicKeys: Record<string, string>, syncAlways?: boolean, cluster?: { name: string, host: string, port: number, routes: string[] }, advertise?: string }} what
 * @returns {Promise<TestNats>}
 */
async function startOne({ dir, binary, publicKeys, syncAlways = true, cluster, advertise }) {
  const port = await freePort();
  const serverName = `holdpoint-${randomBytes(6).toString('hex')}`;
  const configFile = writeBrokerConfig(dir, {
    serverName,
    port,
    publicKeys,
    syncAlways,
    ...(cluster ? { cluster } : {}),
  });
  if (advertise) advertiseRoute(configFile, advertise);
  const start = () => startNats({ binary, dir, port, configFile, serverName });
  let server = await start();
  return {
    url: server.url,
    name: serverName,
    pid: () => server.pid,
    kill: () => (signalQuietly(server.pid, 'SIGKILL'), server.exited),
    pause: () => signalQuietly(server.pid, 'SIGSTOP'),
    resume: () => signalQuietly(server.pid, 'SIGCONT'),
    restart: async () => {
      await server.stop();
      server = await start();
    },
    stop: async () => {
      signalQuietly(server.pid, 'SIGCONT');
      await server.stop();
    },
  };
}

/** Servers tell each other where they are: an address at which nobody listens keeps them to the routes they were given. @param {string} configFile @param {string} advertise */
function advertiseRoute(configFile, advertise) {
  const config = JSON.parse(readFileSync(configFile, 'utf8'));
  writeFileSync(configFile, JSON.stringify({ ...config, cluster: { ...config.cluster, advertise } }));
}

/** @param {{ dir: string, binary: string, publicKeys: Record<string, string>, credsDir: string, between?: Between }} what */
async function startCluster({ dir, binary, publicKeys, credsDir, between }) {
  const ports = await Promise.all(Array.from({ length: CLUSTER_SIZE }, freePort));
  /** @param {number} from */
  const routesOf = async (from) => {
    const others = between ? [0, 1, 2].filter((to) => to !== from) : [0, 1, 2];
    const found = others.map((to) => (between ? between(from, to, ports[to] ?? 0) : (ports[to] ?? 0)));
    return (await Promise.all(found)).map((port) => `nats://127.0.0.1:${port}`);
  };
  const name = `holdpoint-${randomBytes(6).toString('hex')}`;
  const servers = await Promise.all(
    ports.map(async (port, index) =>
      startOne({
        dir: join(dir, `nats-${index}`),
        binary,
        publicKeys,
        cluster: { name, host: '127.0.0.1', port, routes: await routesOf(index) },
        ...(between ? { advertise: '127.0.0.1:1' } : {}),
      }),
    ),
  );
  await untilElected(
    servers.map(({ url }) => url),
    join(credsDir, 'bootstrap.nk'),
  );
  return servers;
}

/** JetStream on a cluster answers only once the three have found each other. @param {string[]} servers @param {string} seedFile */
async function untilElected(servers, seedFile) {
  const { connect, nkeyAuthenticator } = await import('@nats-io/transport-node');
  const authenticator = nkeyAuthenticator(new Uint8Array(readFileSync(seedFile)));
  const connection = await connect({ servers, authenticator, inboxPrefix: '_INBOX.bootstrap' });
  try {
    for (let tries = 0; tries < CLUSTER_TRIES; tries++) {
      const answer = await connection.request('$JS.API.STREAM.INFO.NONE', '', { timeout: 500 }).catch(() => undefined);
      if (answer?.json().error?.code === 404) return;
      await sleep(100);
    }
    throw new Unable('The three NATS servers did not agree on a leader.');
  } finally {
    await connection.close();
  }
}
