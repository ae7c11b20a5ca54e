// @ts-check
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';

const OLD_LOG_BYTES = 20 * 1024 * 1024;

/** A failure that a person at the terminal can do something about: its message is the whole story. */
export class Unable extends Error {}

/** @param {number} ms @returns {Promise<void>} */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Asks again until the answer is truthy; undefined when the time is over.
 * @template T @param {() => T | Promise<T>} ask @param {{ withinMs: number, everyMs?: number }} limits @returns {Promise<T | undefined>}
 */
export async function until(ask, { withinMs, everyMs = 25 }) {
  const end = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() >= end) return undefined;
    await sleep(everyMs);
  }
}

/**
 * Runs a program to its end; throws its last words where it fails.
 * @param {string} command @param {string[]} args @param {import('node:child_process').SpawnOptions} [options] @returns {Promise<string>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
    child.on('error', reject);
    child.on('close', (code, signal) =>
      code === 0 ? resolve(output) : reject(new Error(`${command} ended with ${code ?? signal}: ${lastWords(output)}`)),
    );
  });
}

/** @param {string} output */
export const lastWords = (output) => output.trim().split('\n').slice(-3).join(' | ').slice(-600);

/** @param {number} pid */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/** A process whose parent never asked how it ended is still listed, and does nothing any more. @param {number} pid */
function isZombie(pid) {
  if (process.platform !== 'linux') return false;
  const stat = textOf(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

/** The command line of a process; empty where there is none or the system does not tell. @param {number} pid */
export function commandLine(pid) {
  if (process.platform === 'linux') return textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  if (process.platform === 'win32') return '';
  return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}

/** The text of a file; empty where there is none. @param {string} file */
export function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Stops by the signals in turn, each with its time, and then for good.
 * @param {number} pid @param {[NodeJS.Signals, number][]} signals
 */
export async function stopProcess(pid, signals) {
  for (const [signal, withinMs] of /** @type {[NodeJS.Signals, number][]} */ ([...signals, ['SIGKILL', 2_000]])) {
    if (!isAlive(pid)) return;
    signalQuietly(pid, signal);
    if (await until(() => !isAlive(pid), { withinMs })) return;
  }
}

/** @param {number} pid @param {NodeJS.Signals} signal */
export function signalQuietly(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in between, which is what was wanted.
  }
}

/**
 * Stops what an earlier start left behind, but only where its command line proves that it is ours: numbers are used again.
 * @param {{ pid: number, mark: string, signals: [NodeJS.Signals, number][] }} orphan
 */
export async function stopOrphan({ pid, mark, signals }) {
  if (!Number.isInteger(pid) || pid <= 1 || !isAlive(pid) || !commandLine(pid).includes(mark)) return false;
  await stopProcess(pid, signals);
  return true;
}

/** A port that is free now. @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address && typeof address === 'object' ? address.port : 0));
    });
  });
}

/** @param {number} port @param {string} [host] @returns {Promise<boolean>} */
export function isFree(port, host = '127.0.0.1') {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/**
 * Starts a server in a session of its own, so that Ctrl-C reaches only us and we stop everything in order; its log is a file,
 * because a pipe would break under it when we are killed.
 * @param {string} command @param {string[]} args @param {{ logFile: string, cwd: string, uid?: number, gid?: number, env?: NodeJS.ProcessEnv }} options
 */
export function spawnServer(command, args, { logFile, ...options }) {
  const log = openLog(logFile);
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  return child;
}

/** @param {string} file */
export function openLog(file) {
  mkdirSync(dirname(file), { recursive: true });
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > OLD_LOG_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a');
}

/** When a process began, as the system words it: with its number it names one process only. @param {number} pid */
export function processBegan(pid) {
  if (process.platform === 'win32') return '';
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  const stat = textOf(`/proc/${pid}/stat`);
  const began = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return `${textOf('/proc/sys/kernel/random/boot_id').trim()} ${began}`;
}
