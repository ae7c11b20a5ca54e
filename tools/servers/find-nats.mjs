// @ts-check
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianNats } from './debian-nats.mjs';
import { run } from './run.mjs';

export const OLDEST_NATS = [2, 14];
const RELEASE = 'v2.15.1';
const RELEASES = 'https://github.com/nats-io/nats-server/releases/download';
const PLATFORMS = { linux: 'linux', darwin: 'darwin' };
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64', arm: 'arm7' };

/**
 * A nats-server that is new enough: on PATH, brought by an earlier start, from the official release, or from Debian.
 * @param {string} cacheDir @param {(line: string) => void} say @returns {Promise<string>} its path
 */
export async function findNats(cacheDir, say) {
  const kept = join(cacheDir, 'nats-server');
  for (const candidate of ['nats-server', kept]) if (await isNewEnough(candidate)) return candidate;
  mkdirSync(cacheDir, { recursive: true });
  const reasons = [];
  for (const [from, bring] of /** @type {const} */ ([
    ['the official release', releasedNats],
    ['Debian', debianNats],
  ])) {
    const work = mkdtempSync(join(tmpdir(), 'holdpoint-nats-'));
    try {
      say(`Bringing nats-server from ${from} …`);
      keep(await bring(work), kept);
      if (await isNewEnough(kept)) return kept;
      reasons.push(`${from}: too old`);
    } catch (error) {
      reasons.push(`${from}: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  throw new Error(
    `No nats-server ${OLDEST_NATS.join('.')} or newer could be had for ${process.platform}/${process.arch} (${reasons.join('; ')}). ` +
      'Put one on PATH, or name a running one with HOLDPOINT_NATS_URL and HOLDPOINT_NATS_CREDS_DIR.',
  );
}

/** Another start may do the same at the same moment: a rename is whole or not at all. @param {string} binary @param {string} kept */
function keep(binary, kept) {
  const next = `${kept}.${process.pid}`;
  writeFileSync(next, readFileSync(binary));
  chmodSync(next, 0o755);
  renameSync(next, kept);
}

/** @param {string} binary */
async function isNewEnough(binary) {
  if (binary.includes('/') && !existsSync(binary)) return false;
  const text = await run(binary, ['--version']).catch(() => '');
  const [, major = '0', minor = '0'] = /v(\d+)\.(\d+)/.exec(text) ?? [];
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NATS;
  return Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor);
}

/** @param {string} work */
async function releasedNats(work) {
  const platform = /** @type {Record<string, string>} */ (PLATFORMS)[process.platform];
  const architecture = /** @type {Record<string, string>} */ (ARCHITECTURES)[process.arch];
  if (!platform || !architecture) throw new Error(`there is none for ${process.platform}/${process.arch}`);
  const name = `nats-server-${RELEASE}-${platform}-${architecture}`;
  const [archive, sums] = await Promise.all([download(`${name}.tar.gz`), download('SHA256SUMS')]);
  const sum = createHash('sha256').update(archive).digest('hex');
  if (!sums.toString('utf8').includes(`${sum}  ${name}.tar.gz`))
    throw new Error('its checksum is not the published one');
  writeFileSync(join(work, 'nats.tar.gz'), archive);
  await run('tar', ['-xzf', join(work, 'nats.tar.gz'), '-C', work]);
  return join(work, name, 'nats-server');
}

/** @param {string} file */
async function download(file) {
  const answer = await fetch(`${RELEASES}/${RELEASE}/${file}`, { signal: AbortSignal.timeout(60_000) });
  if (!answer.ok) throw new Error(`${file} was answered with ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}
