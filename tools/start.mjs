// @ts-check
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFree, sleep, Unable, until } from './servers/processes.mjs';
import { readSettings, WrongSetting } from './settings.mjs';
import { takeLock } from './start/lock.mjs';
import { prepare, SERVICES } from './start/prepare.mjs';
import { say, surviveClosedOutput } from './start/say.mjs';
import { askedToStop } from './start/signals.mjs';
import { keepService, stopServiceLeftBehind } from './start/services.mjs';
import { adminTokenOf, ensureFirstTokens, TOKEN_FILES } from './start/tokens.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const READY_MS = 120_000;
/** Together under the ten seconds that are promised. */
const GATEWAY_STOP_MS = 3_000;
const SERVICE_STOP_MS = 3_000;
const IN_FLIGHT_MS = 1_000;
const LOCK_MS = 4_000;

/** @type {Map<string, import('./start/services.mjs').Running>} */
const services = new Map();
/** @type {(() => Promise<void>)[]} */
const servers = [];
let stopping = false;
let isStarted = false;

/** @param {import('./settings.mjs').StartSettings} settings */
async function start(settings) {
  const adminToken = adminTokenOf(settings);
  await prepare(root);
  await refuseTakenPorts(settings);
  // Only now: these import packages, which there may have been none of before.
  const { connectServers } = await import('./start/servers.mjs');
  const { checkDatabase, checkPermissions } = await import('./start/outside.mjs');
  const { bootstrapLog } = await import('./bootstrap.mjs');
  const { migrateReadModel } = await import('./start/migrate.mjs');
  const connections = await connectServers(settings, join(root, '.holdpoint'), (stop) => servers.push(stop));
  if (settings.databaseUrl) await checkDatabase(settings.databaseUrl);
  if (settings.natsUrl) await checkPermissions(connections);
  await bootstrapLog(connections).catch(inOneSentence);
  if (stopping) return;
  startServices(settings, connections, adminToken);
  await Promise.race([...hopeless(), untilReady(settings)]);
  await ensureFirstTokens({ url: ownUrl(settings.host, settings.port), dataDir: settings.dataDir, adminToken });
  printWhere(settings);
  isStarted = true;
  await Promise.race(hopeless());
}

/** @param {unknown} error @returns {never} */
function inOneSentence(error) {
  throw error instanceof Error ? new Unable(error.message, { cause: error }) : error;
}

/** What an earlier, killed start left may still hold a port for a moment. @param {import('./settings.mjs').StartSettings} settings */
async function refuseTakenPorts({ host, port, metricsPort, dataDir }) {
  for (const name of SERVICES) await stopServiceLeftBehind(dataDir, name);
  for (const [setting, wanted] of /** @type {const} */ ([
    ['HOLDPOINT_PORT', port],
    ['HOLDPOINT_METRICS_PORT', metricsPort],
  ]))
    if (!(await until(() => isFree(wanted, host), { withinMs: 1_000, everyMs: 200 })))
      throw new Unable(
        `Port ${wanted} on ${host} cannot be had (another program has it, or the address is not this machine's): stop that program or set ${setting}.`,
      );
}

/** @param {import('./settings.mjs').StartSettings} settings @param {import('./start/servers.mjs').Connections} to @param {string} adminToken */
function startServices({ host, port, metricsPort, dataDir }, to, adminToken) {
  const env = {
    ...process.env,
    HOLDPOINT_HOST: host,
    HOLDPOINT_PORT: String(port),
    HOLDPOINT_METRICS_PORT: String(metricsPort),
    HOLDPOINT_DATA_DIR: dataDir,
    HOLDPOINT_ADMIN_TOKEN: adminToken,
    HOLDPOINT_NATS_URL: to.natsUrl,
    HOLDPOINT_NATS_CREDS_DIR: to.natsCredsDir,
    HOLDPOINT_DATABASE_URL: to.databaseUrl,
    ...(to.natsCa === undefined ? {} : { HOLDPOINT_NATS_CA: to.natsCa }),
  };
  for (const name of SERVICES) services.set(name, keepService({ name, root, dataDir, env }));
}

const hopeless = () =>
  [...services.values()].map((service) =>
    service.hopeless.then((why) => {
      throw new Unable(why);
    }),
  );

/** @param {import('./settings.mjs').StartSettings} settings */
async function untilReady({ host, port }) {
  let last = 'it does not answer';
  const ready = await until(
    async () => {
      const answer = await fetch(`${ownUrl(host, port)}/readyz`, { signal: AbortSignal.timeout(3_000) }).catch(
        () => undefined,
      );
      if (answer && !answer.ok) last = await answer.text();
      return answer?.ok;
    },
    { withinMs: READY_MS, everyMs: 200 },
  );
  if (!ready) throw new Unable(`Holdpoint did not become ready within ${READY_MS / 1_000} s: ${last}`);
}

/** Where we reach ourselves: a server that listens everywhere is also here. @param {string} host @param {number} port */
function ownUrl(host, port) {
  const here = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${here}:${port}`;
}

/** @param {import('./settings.mjs').StartSettings} settings */
function printWhere({ host, port, metricsPort, dataDir, adminToken }) {
  say('holdpoint', `ready at ${ownUrl(host, port)}, metrics at ${ownUrl(host, metricsPort)}/metrics`);
  for (const file of TOKEN_FILES.filter((name) => name !== 'admin-token' || adminToken === undefined))
    say('holdpoint', `${file}: ${join(dataDir, file)}`);
  say('holdpoint', 'Ctrl-C stops it');
}

/** The door first, then the services behind it, then what they stand on. */
async function stopAll() {
  stopping = true;
  await services.get('gateway')?.stop(GATEWAY_STOP_MS);
  await Promise.all([...services.values()].map((service) => service.stop(SERVICE_STOP_MS)));
  await Promise.all(servers.splice(0).map((stop) => stop()));
}

/** A server may have come up after the signal. @param {Promise<void>} running */
async function stopWhatWasStarting(running) {
  await Promise.race([running.catch(() => undefined), sleep(IN_FLIGHT_MS)]);
  await stopAll();
}

/** @param {unknown} error */
function explain(error) {
  const expected = error instanceof Unable || error instanceof WrongSetting;
  console.error(expected ? error.message : error);
  return error instanceof WrongSetting ? 2 : 1;
}

async function main() {
  surviveClosedOutput();
  const settings = readSettings(process.env);
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o755 });
  const lock = await lockOf(settings.dataDir);
  const running = start(settings);
  const code = await Promise.race([running.then(() => 0, explain), askedToStop().then(() => 0)]);
  say('holdpoint', 'stopping');
  await stopAll();
  if (!isStarted) await stopWhatWasStarting(running);
  lock.release();
  say('holdpoint', 'stopped');
  process.exit(code);
}

/** One that is just stopping gets a moment for it. @param {string} dataDir */
async function lockOf(dataDir) {
  const file = join(dataDir, 'lock');
  let owner = 0;
  const taken = await until(
    () => {
      const lock = takeLock(file);
      if (!lock.taken) owner = lock.pid;
      return lock.taken ? lock : undefined;
    },
    { withinMs: LOCK_MS, everyMs: 100 },
  );
  if (taken) return taken;
  throw new Unable(
    `Holdpoint already runs on ${dataDir} (process ${owner}): stop that one, or set HOLDPOINT_DATA_DIR and the ports to run another.`,
  );
}

main().catch((error) => process.exit(explain(error)));
