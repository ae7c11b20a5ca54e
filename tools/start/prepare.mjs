// @ts-check
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, textOf, Unable } from '../servers/processes.mjs';
import { takeLock } from './lock.mjs';
import { say } from './say.mjs';

const SOURCES = ['apps', 'libs', 'nest-cli.json', '.swcrc', 'package.json', 'package-lock.json'];
const NOT_SOURCES = ['node_modules', 'dist', 'coverage'];
export const SERVICES = ['orchestrator', 'approval-service', 'gateway'];

/** Installs and builds what is missing or old. Two starts from one tree take turns. @param {string} root */
export async function prepare(root) {
  const lock = await takeTurn(join(root, '.holdpoint', 'prepare.lock'));
  try {
    if (isInstallOld(root)) await npm(root, ['ci', '--no-audit', '--no-fund'], 'installing the packages');
    await buildWhereOld(root);
  } finally {
    lock.release();
  }
}

/** @param {string} file */
async function takeTurn(file) {
  for (;;) {
    const lock = takeLock(file);
    if (lock.taken) return lock;
    await sleep(250);
  }
}

/** npm writes its own list last, so an install that was cut short counts as none. @param {string} root */
function isInstallOld(root) {
  const installed = statSync(join(root, 'node_modules/.package-lock.json'), { throwIfNoEntry: false });
  return !installed || installed.mtimeMs < statSync(join(root, 'package-lock.json')).mtimeMs;
}

/** @param {string} root */
async function buildWhereOld(root) {
  const stamp = join(root, 'dist/.built');
  const sources = fingerprint(root);
  const complete = SERVICES.every((name) => existsSync(mainOf(root, name)));
  if (complete && textOf(stamp) === sources) return;
  await npm(root, ['run', '--silent', 'build'], 'building');
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(stamp, sources);
}

/** @param {string} root @param {string} service */
export const mainOf = (root, service) => join(root, 'dist/apps', service, 'src/main.js');

/** @param {string} root */
function fingerprint(root) {
  const hash = createHash('sha256');
  for (const source of SOURCES) for (const line of listed(join(root, source))) hash.update(`${line}\n`);
  return hash.digest('hex');
}

/** @param {string} path @returns {string[]} */
function listed(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return [];
  if (!stat.isDirectory()) return [`${path} ${stat.size} ${stat.mtimeMs}`];
  const names = readdirSync(path).filter((name) => !NOT_SOURCES.includes(name));
  return names.sort().flatMap((name) => listed(join(path, name)));
}

/** The npm that runs us, where one does: another may be of another Node. @param {string} root @param {string[]} args @param {string} what */
async function npm(root, args, what) {
  say('holdpoint', what);
  const script = process.env['npm_execpath'];
  const [command, first] = script?.endsWith('js') ? [process.execPath, [script]] : ['npm', []];
  const windows = process.platform === 'win32' && command === 'npm';
  const child = spawn(command, [...first, ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: windows,
  });
  const code = await new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', resolve);
  });
  if (code !== 0) throw new Unable(`npm ${args.join(' ')} did not succeed (${code}): its words are above.`);
}
