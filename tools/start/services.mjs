// @ts-check
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isAlive, openLog, processBegan, sleep, stopProcess, textOf } from '../servers/processes.mjs';
import { writeWhole } from './kept.mjs';
import { mainOf } from './prepare.mjs';
import { say } from './say.mjs';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const LIVED_LONG_MS = 30_000;
/** A service says with this code that its settings are wrong: starting it again changes nothing. */
const WRONG_SETTINGS = 2;

/**
 * @typedef {{ name: string, root: string, dataDir: string, env: NodeJS.ProcessEnv }} Service
 * @typedef {{ stop: (withinMs: number) => Promise<void>, hopeless: Promise<string> }} Running
 */

/** Runs a service, and again whenever it ends, with longer and longer pauses. @param {Service} service @returns {Running} */
export function keepService(service) {
  let stopping = false;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child;
  const loop = async () => {
    for (let pause = FIRST_PAUSE_MS; !stopping; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const began = Date.now();
      child = spawnService(service);
      const how = await ended(child);
      if (stopping) break;
      if (how === WRONG_SETTINGS) return `${service.name} does not start: its words are above.`;
      if (Date.now() - began > LIVED_LONG_MS) pause = FIRST_PAUSE_MS;
      say('holdpoint', `${service.name} has ended (${how}) and is started again in ${pause} ms`);
      await sleep(pause);
    }
    return new Promise(() => undefined);
  };
  const stop = async (/** @type {number} */ withinMs) => {
    stopping = true;
    if (child?.pid) await stopProcess(child.pid, [['SIGTERM', withinMs]]);
  };
  return { stop, hopeless: /** @type {Promise<string>} */ (loop()) };
}

/** In a session of its own, so that Ctrl-C reaches only us; with a channel whose end tells it that we are gone. @param {Service} service */
function spawnService({ name, root, dataDir, env }) {
  const child = spawn(process.execPath, [mainOf(root, name)], {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const log = createWriteStream('', { fd: openLog(join(dataDir, 'logs', `${name}.log`)) });
  for (const stream of [child.stdout, child.stderr])
    if (stream)
      createInterface({ input: stream }).on('line', (line) => {
        say(name, line);
        log.write(`${line}\n`);
      });
  child.once('close', () => log.end());
  if (child.pid) writeWhole(pidFile(dataDir, name), JSON.stringify({ pid: child.pid, began: processBegan(child.pid) }));
  return child;
}

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<number | string | null>} */
const ended = (child) =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });

/** @param {string} dataDir @param {string} name */
const pidFile = (dataDir, name) => join(dataDir, 'run', `${name}.json`);

/** Ends a service that outlived a killed start: it would hold the port. @param {string} dataDir @param {string} name */
export async function stopServiceLeftBehind(dataDir, name) {
  const text = textOf(pidFile(dataDir, name));
  if (!text) return;
  const { pid, began } = JSON.parse(text);
  if (isAlive(pid) && began !== '' && processBegan(pid) === began) await stopProcess(pid, [['SIGTERM', 3_000]]);
}
