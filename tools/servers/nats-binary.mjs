// @ts-check
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { natsFromDebian } from './nats-from-debian.mjs';
import { natsFromRelease } from './nats-from-release.mjs';
import { run, Unable } from './processes.mjs';

/** Older servers can corrupt a guarded write. */
const OLDEST = [2, 14];
const NAME = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server';
/** Where packages put it without it being on everybody's PATH. */
const USUAL_PLACES = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/**
 * The path of a nats-server that is new enough: one that is installed, one brought before, or one brought now.
 * @param {{ cacheDir: string, log?: (line: string) => void }} where @returns {Promise<string>}
 */
export async function findNats({ cacheDir, log = () => {} }) {
  const brought = join(cacheDir, 'bin', NAME);
  for (const candidate of [...installed(), brought]) if (await isNewEnough(candidate)) return candidate;
  const failures = [];
  for (const [source, bring] of /** @type {const} */ ([
    ['release', natsFromRelease],
    ['Debian', natsFromDebian],
  ])) {
    try {
      await bring({ target: brought, log });
      if (await isNewEnough(brought)) return brought;
      failures.push(`the ${source} one is too old or does not run here`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      failures.push(why);
      log(why);
    }
  }
  throw new Unable(
    `There is no nats-server ${OLDEST.join('.')} or newer, and none could be brought (${failures.join('; ')}): install one and put it on the PATH${hint()}, or set HOLDPOINT_NATS_URL.`,
  );
}

const hint = () => (process.platform === 'darwin' ? ' (brew install nats-server)' : '');

function installed() {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean), ...USUAL_PLACES];
  return [...new Set(folders)].map((folder) => join(folder, NAME)).filter((file) => existsSync(file));
}

/** @param {string} binary */
async function isNewEnough(binary) {
  const output = await run(binary, ['--version']).catch(() => '');
  const [, major = 0, minor = 0] = (/v(\d+)\.(\d+)\./.exec(output) ?? []).map(Number);
  return major > (OLDEST[0] ?? 0) || (major === OLDEST[0] && minor >= (OLDEST[1] ?? 0));
}
