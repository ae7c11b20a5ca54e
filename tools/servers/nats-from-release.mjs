// @ts-check
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { install } from './install.mjs';
import { run } from './processes.mjs';

const VERSION = 'v2.15.1';
const RELEASE = `https://github.com/nats-io/nats-server/releases/download/${VERSION}`;
/** Behind a wall that drops packets nothing answers; the next source should not wait for it. */
const CONNECT_SECONDS = 5;
const DOWNLOAD_SECONDS = 180;

/** @type {Record<string, string>} */
const SYSTEMS = { linux: 'linux', darwin: 'darwin', win32: 'windows', freebsd: 'freebsd' };
/** @type {Record<string, string>} */
const MACHINES = { x64: 'amd64', arm64: 'arm64', arm: 'arm7', ppc64: 'ppc64le', s390x: 's390x' };

/**
 * The official archive, its checksum verified.
 * @param {{ target: string, log: (line: string) => void }} where
 */
export async function natsFromRelease({ target, log }) {
  const archive = archiveName();
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-nats-'));
  try {
    log(`bringing nats-server ${VERSION} from its release page`);
    const sums = await download('SHA256SUMS', folder);
    const file = await download(archive, folder);
    verify(file, readFileSync(sums, 'utf8'));
    // The tar of Windows and macOS unpacks zip archives too.
    await run('tar', ['-xf', file, '-C', folder, '--strip-components', '1']);
    install(join(folder, basename(target)), target);
  } catch (error) {
    throw new Error(`the release page gave none (${error instanceof Error ? error.message : error})`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function archiveName() {
  const system = SYSTEMS[process.platform];
  const machine = MACHINES[process.arch];
  if (!system || !machine)
    throw new Error(`there is no release of nats-server for ${process.platform} on ${process.arch}`);
  return `nats-server-${VERSION}-${system}-${machine}.${system === 'windows' ? 'zip' : 'tar.gz'}`;
}

/** curl first: unlike fetch it goes through the proxy that the machine is set to use. @param {string} name @param {string} folder */
async function download(name, folder) {
  const file = join(folder, name);
  const url = `${RELEASE}/${name}`;
  const limits = ['--connect-timeout', String(CONNECT_SECONDS), '--max-time', String(DOWNLOAD_SECONDS)];
  try {
    await run('curl', ['-fsSL', ...limits, '-o', file, url]);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error;
    writeFileSync(file, await fetched(url));
  }
  return file;
}

/** @param {string} url */
async function fetched(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_SECONDS * 1_000) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** @param {string} file @param {string} sums */
function verify(file, sums) {
  const actual = createHash('sha256').update(readFileSync(file)).digest('hex');
  const line = sums.split('\n').find((entry) => entry.trim().endsWith(basename(file)));
  if (!line?.startsWith(actual)) throw new Error(`the checksum of ${basename(file)} is not the published one`);
}
