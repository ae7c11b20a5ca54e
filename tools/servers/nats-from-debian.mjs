// @ts-check
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianMirrors } from './apt-sources.mjs';
import { install } from './install.mjs';
import { run } from './processes.mjs';

/** Stable Debian has older servers. The second name is for mirrors that carry no alias. */
const SUITES = ['testing', 'forky'];
const KEYRINGS = ['gpg', 'pgp'].map((ending) => `/usr/share/keyrings/debian-archive-keyring.${ending}`);

/**
 * Debian's own package, unpacked and not installed: apt checks its signature, and nothing on the machine changes.
 * @param {{ target: string, log: (line: string) => void }} where
 */
export async function natsFromDebian({ target, log }) {
  const keyring = KEYRINGS.find((file) => existsSync(file));
  if (!existsSync('/usr/bin/apt-get') || !keyring) throw new Error('this is no machine that trusts Debian packages');
  let why = 'its apt sources name no Debian mirror';
  for (const mirror of debianMirrors())
    for (const suite of SUITES) {
      try {
        log('bringing nats-server as a Debian package');
        return await bring({ source: `deb [signed-by=${keyring}] ${mirror} ${suite} main\n`, target });
      } catch (error) {
        why = error instanceof Error ? error.message : String(error);
      }
    }
  throw new Error(`the Debian package could not be had (${why})`);
}

/** @param {{ source: string, target: string }} what */
async function bring({ source, target }) {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-apt-'));
  try {
    const apt = ownState(folder, source);
    await run('apt-get', [...apt, '-qq', '-o', 'APT::Update::Error-Mode=any', 'update'], { cwd: folder });
    await run('apt-get', [...apt, '-qq', 'download', 'nats-server'], { cwd: folder });
    const deb = readdirSync(folder).find((name) => name.endsWith('.deb'));
    if (!deb) throw new Error('apt-get brought no package');
    await run('dpkg-deb', ['-x', join(folder, deb), join(folder, 'unpacked')]);
    install(binaryIn(join(folder, 'unpacked')), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Everything that apt reads or writes is in this folder, except how to reach the network (proxies, credentials).
 * The sandbox user could not write there, and is not there to be had when we are not root.
 * @param {string} folder @param {string} source
 */
function ownState(folder, source) {
  for (const part of ['state/lists/partial', 'cache/archives/partial', 'none'])
    mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(folder, 'sources.list'), source);
  writeFileSync(join(folder, 'state/status'), '');
  const settings = {
    'Dir::State': join(folder, 'state'),
    'Dir::State::status': join(folder, 'state/status'),
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Etc::SourceList': join(folder, 'sources.list'),
    'Dir::Etc::SourceParts': join(folder, 'none'),
    'Dir::Etc::Preferences': '/dev/null',
    'Dir::Etc::PreferencesParts': join(folder, 'none'),
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '2',
    'Acquire::http::Timeout': '15',
    'Acquire::https::Timeout': '15',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/** @param {string} folder */
function binaryIn(folder) {
  const places = ['usr/sbin/nats-server', 'usr/bin/nats-server'].map((path) => join(folder, path));
  const found = places.find((file) => existsSync(file));
  if (!found) throw new Error('the package has no nats-server');
  return found;
}
