// @ts-check
import { join } from 'node:path';
import { ensureKeys } from '../../deploy/nats/keys.mjs';
import { writeBrokerConfig } from '../servers/broker-folder.mjs';
import { findNats, startNats, stopNatsLeftBehind } from '../servers/nats.mjs';
import { startPostgres, stopPostgresOf } from '../servers/postgres.mjs';
import { keptPort, keptText, randomName } from './kept.mjs';
import { say } from './say.mjs';

/**
 * @typedef {import('../servers/nats.mjs').Server} Server
 * @typedef {{ natsUrl: string, natsCredsDir: string, natsCa: string | undefined, databaseUrl: string }} Connections
 * @typedef {(stop: () => Promise<void>) => void} OnStop what is to be stopped, in the order of starting
 */

/**
 * The log's server and the read model's: those that the settings name, else our own, side by side.
 * @param {import('../settings.mjs').StartSettings} settings @param {string} cacheDir @param {OnStop} onStop @returns {Promise<Connections>}
 */
export async function connectServers(settings, cacheDir, onStop) {
  const started = await Promise.allSettled([
    ourOrTheirNats(settings, cacheDir, onStop),
    ourOrTheirPostgres(settings, onStop),
  ]);
  const [nats, postgres] = started;
  if (nats.status === 'fulfilled' && postgres.status === 'fulfilled')
    return { ...nats.value, databaseUrl: postgres.value };
  throw started.find((one) => one.status === 'rejected')?.reason;
}

/** @param {import('../settings.mjs').StartSettings} settings @param {string} cacheDir @param {OnStop} onStop */
async function ourOrTheirNats({ natsUrl, natsCredsDir, natsCa, dataDir }, cacheDir, onStop) {
  if (natsUrl && natsCredsDir) return { natsUrl, natsCredsDir, natsCa };
  const creds = join(dataDir, 'creds');
  const dir = join(dataDir, 'nats');
  const binary = await findNats({ cacheDir, log: (line) => say('holdpoint', line) });
  await stopNatsLeftBehind(dir);
  const port = await keptPort(dataDir, 'nats');
  const serverName = keptText(join(dataDir, 'nats', 'server-name'), () => randomName('holdpoint-'));
  const configFile = writeBrokerConfig(dir, { serverName, port, publicKeys: ensureKeys(creds) });
  const start = () =>
    startNats({ binary, dir, port, configFile, serverName, logFile: join(dataDir, 'logs', 'nats.log') });
  const url = await keepRunning('nats', start, onStop);
  return { natsUrl: url, natsCredsDir: creds, natsCa: undefined };
}

/** @param {import('../settings.mjs').StartSettings} settings @param {OnStop} onStop */
async function ourOrTheirPostgres({ databaseUrl, dataDir }, onStop) {
  if (databaseUrl) return databaseUrl;
  const dir = join(dataDir, 'postgres');
  await stopPostgresOf(dir);
  const port = await keptPort(dataDir, 'postgres');
  return keepRunning(
    'postgres',
    () => startPostgres({ dir, port, logFile: join(dataDir, 'logs', 'postgres.log') }),
    onStop,
  );
}

/**
 * Starts a server, and again whenever it ends by itself.
 * @param {string} name @param {() => Promise<Server>} start @param {OnStop} onStop
 */
async function keepRunning(name, start, onStop) {
  let server = await start();
  let stopping = false;
  const again = async () => {
    await server.exited;
    while (!stopping) {
      say('holdpoint', `${name} has ended by itself and is started again`);
      server = await start();
      await server.exited;
    }
  };
  again().catch((error) => say('holdpoint', `${name} does not start again: ${error.message}`));
  onStop(() => {
    stopping = true;
    return server.stop();
  });
  return server.url;
}
