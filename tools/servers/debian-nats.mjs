// @ts-check
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/** Debian's testing suite by its name: "testing" itself moves. */
const SUITE = 'forky';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCES = '/etc/apt/sources.list.d';

/** nats-server from Debian's testing suite, by apt with a state of its own: nothing of the machine's is changed.
 * The mirror is the machine's own; apt checks the signature. @param {string} work @returns {Promise<string>} */
export async function debianNats(work) {
  if (!existsSync('/usr/bin/apt-get') || !existsSync(KEYRING)) throw new Error('this is no Debian machine');
  for (const dir of ['lists/partial', 'cache/archives/partial', 'out']) mkdirSync(join(work, dir), { recursive: true });
  const list = join(work, 'sources.list');
  writeFileSync(list, `deb [signed-by=${KEYRING}] ${ownMirror()} ${SUITE} main\n`);
  const options = {
    'Dir::State::Lists': join(work, 'lists'),
    'Dir::Cache': join(work, 'cache'),
    'Dir::Etc::SourceList': list,
    'Dir::Etc::SourceParts': '/dev/null',
    // The sandbox user of apt could not write into this folder.
    ...(process.getuid?.() === 0 ? { 'APT::Sandbox::User': 'root' } : {}),
  };
  const apt = ['-q', ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
  await run('apt-get', [...apt, 'update']);
  await run('apt-get', [...apt, 'download', 'nats-server'], { cwd: join(work, 'out') });
  const [archive] = readdirSync(join(work, 'out'));
  if (!archive) throw new Error('apt downloaded nothing');
  await run('dpkg-deb', ['-x', join(work, 'out', archive), join(work, 'x')]);
  const binary = ['usr/sbin', 'usr/bin']
    .map((dir) => join(work, 'x', dir, 'nats-server'))
    .find((file) => existsSync(file));
  if (!binary) throw new Error('the package has no nats-server');
  return binary;
}

/** The first mirror of Debian itself that the machine knows; other programs' sources are no mirrors of it. */
function ownMirror() {
  const files = ['/etc/apt/sources.list', ...list(SOURCES).map((name) => join(SOURCES, name))].filter((file) =>
    existsSync(file),
  );
  const text = files.map((file) => readFileSync(file, 'utf8').replace(/^\s*#.*$/gm, '')).join('\n');
  const words = text.split(/\s+/).filter((word) => /^(https?|mirror\+\w+|file):/.test(word));
  const mirror = words.find((word) => /\/debian\/?$/.test(word));
  if (!mirror) throw new Error('no mirror of Debian among the apt sources');
  return mirror;
}

/** @param {string} dir */
const list = (dir) => (existsSync(dir) ? readdirSync(dir) : []);
