// @ts-check
import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';

/** Runs a command to its end; rejects with what it printed where it failed.
 * @param {string} command @param {string[]} args @param {import('node:child_process').SpawnOptions & { timeoutMs?: number }} [options]
 * @returns {Promise<string>} */
export function run(command, args, { timeoutMs = 300_000, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs });
    let text = '';
    child.stdout?.on('data', (chunk) => (text += String(chunk)));
    child.stderr?.on('data', (chunk) => (text += String(chunk)));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${command} ended with ${code}: ${text.slice(-2_000)}`)),
    );
  });
}

/** Starts a server whose output goes to a file. It has a process group of its own, so that Ctrl-C reaches only who started it.
 * @param {string} command @param {string[]} args @param {{ logFile: string, uid?: number, gid?: number, env?: NodeJS.ProcessEnv }} options */
export function startServer(command, args, { logFile, ...options }) {
  const log = openSync(logFile, 'a', 0o644);
  const child = spawn(command, args, { ...options, stdio: ['ignore', log, log], detached: true });
  child.unref();
  return child;
}

/** @param {number | undefined} pid */
export function isAlive(pid) {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/** Whether a process runs that program: a pid alone may have been given to another since.
 * @param {number} pid @param {string} word */
export function runs(pid, word) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
  } catch {
    return isAlive(pid) && process.platform !== 'linux';
  }
}

/** Asks a process to stop, and ends it where it does not.
 * @param {number | undefined} pid @param {{ signal?: NodeJS.Signals, patienceMs?: number }} [options] */
export async function stopProcess(pid, { signal = 'SIGTERM', patienceMs = 5_000 } = {}) {
  if (pid === undefined || !isAlive(pid)) return;
  process.kill(pid, signal);
  if (await gone(pid, patienceMs)) return;
  process.kill(pid, 'SIGKILL');
  await gone(pid, 2_000);
}

/** @param {number} pid @param {number} patienceMs */
async function gone(pid, patienceMs) {
  for (const until = Date.now() + patienceMs; Date.now() < until; await pause(25)) if (!isAlive(pid)) return true;
  return !isAlive(pid);
}

/** @param {number} ms */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @template T @param {() => Promise<T | undefined> | T | undefined} attempt @param {number} timeoutMs @param {string} what @returns {Promise<T>} */
export async function until(attempt, timeoutMs, what) {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await pause(50)) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new Error(`${what} did not happen within ${timeoutMs / 1000} s`);
}
