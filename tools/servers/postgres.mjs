// @ts-check
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgres, programIn } from './postgres-binaries.mjs';
import { ownedFolder, postgresOwner } from './postgres-owner.mjs';
import {
  isAlive,
  lastWords,
  run,
  sleep,
  spawnServer,
  stopOrphan,
  stopProcess,
  textOf,
  Unable,
  until,
} from './processes.mjs';

const START_MS = 60_000;
const DATABASE = 'holdpoint';
const USER = 'holdpoint';
/** Fast, then immediate: committed transactions survive both. @type {[NodeJS.Signals, number][]} */
const STOP = [
  ['SIGINT', 5_000],
  ['SIGQUIT', 2_000],
];
/** Only where the data may be lost with the machine. */
const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
const LOOPBACK_ONLY = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200', 'timezone=UTC'];

/**
 * @typedef {{ dir: string, port: number, fast?: boolean, logFile?: string }} PostgresOptions
 * @typedef {{ native: string, data: string, owner: import('./postgres-owner.mjs').Owner | undefined, fast: boolean }} Place
 */

/**
 * Starts the Postgres of this folder, making it first where there is none yet.
 * @param {PostgresOptions} options @returns {Promise<import('./nats.mjs').Server>}
 */
export async function startPostgres({ dir, port, fast = false, logFile = join(dir, 'postgres.log') }) {
  const owner = postgresOwner();
  const folder = ownedFolder(dir, owner);
  const place = { native: findPostgres(owner), data: join(folder, 'data'), owner, fast };
  await stopPostgresLeftBehind(place.data);
  const password = ensurePassword(dir);
  if (!existsSync(place.data)) await initialise(place, password);
  const server = await startUntilOurs(place, port, logFile);
  const url = `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`;
  await ensureDatabase(url).catch(async (error) => {
    await server.stop();
    throw error;
  });
  return { ...server, url };
}

/** Stops what an earlier start left running on this folder. @param {string} dir */
export const stopPostgresOf = (dir) => stopPostgresLeftBehind(join(ownedFolder(dir, postgresOwner()), 'data'));

/** @param {string} data */
async function stopPostgresLeftBehind(data) {
  const file = join(data, 'postmaster.pid');
  const pid = Number(textOf(file).split('\n')[0]);
  if (!pid) return;
  await stopOrphan({ pid, mark: `-D ${data} `, signals: STOP });
  // Its number may belong to another program by now, and Postgres would take that for itself.
  rmSync(file, { force: true });
}

/** @param {string} dir */
function ensurePassword(dir) {
  const file = join(dir, 'password');
  try {
    writeFileSync(file, randomBytes(24).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8');
}

/** Made beside its place and renamed: one that was cut short is made again. @param {Place} place @param {string} password */
async function initialise({ native, data, owner, fast }, password) {
  const beside = `${data}.new`;
  const passwordFile = `${data}.password`;
  rmSync(beside, { recursive: true, force: true });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner) chownSync(passwordFile, owner.uid, owner.gid);
  const access = ['--auth=scram-sha-256', `--username=${USER}`, `--pwfile=${passwordFile}`];
  const shape = ['--encoding=UTF8', '--locale=C', ...(fast ? ['--no-sync'] : [])];
  try {
    await run(programIn(native, 'initdb'), [`--pgdata=${beside}`, ...access, ...shape], {
      ...owner,
      cwd: join(data, '..'),
    });
  } catch (error) {
    throw new Unable(`The database could not be made: ${error instanceof Error ? error.message : error}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(beside, data);
}

/**
 * Twice, because the shared memory of one that was killed goes a moment after it.
 * @param {Place} place @param {number} port @param {string} logFile
 */
async function startUntilOurs(place, port, logFile) {
  for (let tries = 1; ; tries++) {
    const server = await start(place, port, logFile);
    if (server) return server;
    if (tries === 3) throw new Unable(`Postgres did not start: ${lastWords(textOf(logFile))}`);
    await sleep(1_000);
  }
}

/** @param {Place} place @param {number} port @param {string} logFile */
async function start({ native, data, owner, fast }, port, logFile) {
  const settings = [...LOOPBACK_ONLY, ...(fast ? FAST : [])].flatMap((setting) => ['-c', setting]);
  const child = spawnServer(programIn(native, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
    logFile,
    cwd: data,
    ...owner,
  });
  /** @type {Promise<void>} */
  const exited = new Promise((done) => {
    child.once('exit', () => done());
    child.once('error', () => done());
  });
  const pid = child.pid;
  if (pid === undefined) return undefined;
  const ready = await until(() => !isAlive(pid) || isReady(data, pid), { withinMs: START_MS });
  if (ready && isAlive(pid)) return { pid, exited, stop: () => stopProcess(pid, STOP) };
  await stopProcess(pid, STOP);
  return undefined;
}

/** The file says whose server it is; whoever answers on the port may be somebody else's. @param {string} data @param {number} pid */
function isReady(data, pid) {
  const lines = textOf(join(data, 'postmaster.pid')).split('\n');
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** @param {string} url */
async function ensureDatabase(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url.replace(/\/[^/]*$/, '/postgres') });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}
