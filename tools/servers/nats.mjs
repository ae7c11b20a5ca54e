// @ts-check
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { lastWords, spawnServer, stopOrphan, stopProcess, textOf, Unable, until } from './processes.mjs';

export { findNats } from './nats-binary.mjs';

const START_MS = 30_000;
const ANSWER_MS = 1_000;
/** @type {[NodeJS.Signals, number][]} */
const STOP = [['SIGTERM', 5_000]];

/**
 * @typedef {{ binary: string, dir: string, port: number, configFile: string, serverName: string, logFile?: string }} NatsOptions
 * @typedef {{ pid: number, url: string, exited: Promise<void>, stop: () => Promise<void> }} Server
 */

/**
 * Starts the server and waits until the one that answers on the port is this one: somebody else's would answer as well.
 * @param {NatsOptions} options @returns {Promise<Server>}
 */
export async function startNats({ binary, dir, port, configFile, serverName, logFile = join(dir, 'nats.log') }) {
  mkdirSync(dir, { recursive: true });
  await stopNatsLeftBehind(dir);
  const child = spawnServer(binary, ['-c', resolve(configFile), '-P', pidFile(dir)], { logFile, cwd: dir });
  /** @type {Promise<void>} */
  const exited = new Promise((done) => child.once('exit', () => done()));
  let over = false;
  child.once('error', () => (over = true));
  void exited.then(() => (over = true));
  const ready = await until(async () => over || (await isOurs(port, serverName)), { withinMs: START_MS });
  const pid = child.pid;
  if (over || !ready || pid === undefined) {
    if (pid !== undefined) await stopProcess(pid, STOP);
    throw new Unable(`The NATS server did not start: ${lastWords(textOf(logFile))}`);
  }
  return { pid, url: `nats://127.0.0.1:${port}`, exited, stop: () => stopProcess(pid, STOP) };
}

/** @param {string} dir */
const pidFile = (dir) => resolve(dir, 'nats.pid');

/** The pid file's own path stands in the command line of the server that wrote it. @param {string} dir */
export const stopNatsLeftBehind = (dir) =>
  stopOrphan({ pid: Number(textOf(pidFile(dir)).trim()), mark: pidFile(dir), signals: STOP });

/** @param {number} port @param {string} serverName */
async function isOurs(port, serverName) {
  const info = await serverInfo(port);
  return info !== undefined && info.server_name === serverName && info.jetstream === true;
}

/**
 * What a NATS server says first to anyone who connects.
 * @param {number} port @param {string} [host]
 * @returns {Promise<{ server_name?: string, jetstream?: boolean, version?: string, cluster?: string } | undefined>}
 */
export function serverInfo(port, host = '127.0.0.1') {
  return new Promise((answer) => {
    const socket = connect({ host, port, timeout: ANSWER_MS });
    let text = '';
    const end = () => {
      socket.destroy();
      answer(infoIn(text));
    };
    socket.on('data', (chunk) => {
      text += String(chunk);
      if (text.includes('\r\n')) end();
    });
    for (const event of ['error', 'timeout', 'close']) socket.on(event, end);
  });
}

/** @param {string} text */
function infoIn(text) {
  const [, json] = /^INFO (\{.*\})\s*\r\n/.exec(text) ?? [];
  return json === undefined ? undefined : JSON.parse(json);
}
