// @ts-check
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { identityNames } from './permissions.mjs';

/**
 * Makes the seed of every identity that has none yet, `<dir>/<identity>.nk`, and returns the public keys.
 * @param {string} dir @returns {Record<string, string>}
 */
export function ensureKeys(dir) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return Object.fromEntries(identityNames.map((name) => [name, publicKeyOf(ensureSeed(join(dir, `${name}.nk`)))]));
}

/** @param {string} file */
function ensureSeed(file) {
  try {
    writeFileSync(file, createUser().getSeed(), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
  }
  return readFileSync(file);
}

/** @param {Uint8Array} seed */
const publicKeyOf = (seed) => fromSeed(new Uint8Array(seed)).getPublicKey();
