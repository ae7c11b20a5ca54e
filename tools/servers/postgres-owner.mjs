// @ts-check
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { textOf, Unable } from './processes.mjs';

/** @typedef {{ uid: number, gid: number }} Owner */

/** Postgres refuses to run as root, and we make no user on somebody's machine. @returns {Owner | undefined} */
export function postgresOwner() {
  if (process.getuid?.() !== 0) return undefined;
  const users = textOf('/etc/passwd')
    .split('\n')
    .map((line) => line.split(':'));
  const found = ['postgres', 'nobody'].map((name) => users.find(([user]) => user === name)).find(Boolean);
  if (!found)
    throw new Unable(
      'Postgres does not run as root, and this machine has neither a user postgres nor nobody: start as another user, or set HOLDPOINT_DATABASE_URL.',
    );
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

/** @param {string} path @param {Owner | undefined} owner */
export const maySee = (path, owner) =>
  owner === undefined || spawnSync('test', ['-r', path], { ...owner, cwd: '/' }).status === 0;

/** A place of root's that others may enter, for when the project is where only root may look. */
export const shelter = () => '/var/lib/holdpoint';

/**
 * The folder for the database of this data dir, made and given to the user that runs it; elsewhere when that user could not enter it.
 * @param {string} dir @param {Owner | undefined} owner
 */
export function ownedFolder(dir, owner) {
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  if (!owner || maySee(dir, owner)) return handOver(dir, owner);
  const name = createHash('sha256').update(resolve(dir)).digest('hex').slice(0, 16);
  const elsewhere = join(shelter(), name);
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  writeFileSync(
    join(dir, 'IS-ELSEWHERE'),
    `The user that runs Postgres may not enter this folder; its files are in ${elsewhere}\n`,
  );
  return handOver(elsewhere, owner);
}

/** @param {string} dir @param {Owner | undefined} owner */
function handOver(dir, owner) {
  if (owner) chownSync(dir, owner.uid, owner.gid);
  return dir;
}
