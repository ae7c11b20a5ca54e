// @ts-check
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort, isFree, textOf } from '../servers/processes.mjs';

/** Whole or not at all, and for nobody else to read. @param {string} file @param {string} text */
export function writeWhole(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, file);
}

/** What the file holds; where there is none, what is made now, for ever. @param {string} file @param {() => string} make */
export function keptText(file, make) {
  const there = textOf(file).trim();
  if (there) return there;
  const made = make();
  writeWhole(file, `${made}\n`);
  return made;
}

/** @param {string} prefix */
export const randomName = (prefix) => `${prefix}${randomBytes(24).toString('base64url')}`;

/**
 * The port that this data dir's server had before, or another where somebody else has taken it.
 * @param {string} dataDir @param {string} name
 */
export async function keptPort(dataDir, name) {
  const file = join(dataDir, 'ports', name);
  const before = Number(textOf(file));
  if (before > 0 && (await isFree(before))) return before;
  const port = await freePort();
  writeWhole(file, `${port}\n`);
  return port;
}
