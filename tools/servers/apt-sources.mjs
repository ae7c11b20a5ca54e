// @ts-check
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from './processes.mjs';

const MAIN = '/etc/apt/sources.list';
const PARTS = '/etc/apt/sources.list.d';

/** The Debian mirrors that this machine itself uses, in both formats of apt; on Ubuntu, what its mirror may carry of Debian. */
export function debianMirrors() {
  const files = [MAIN, ...parts()];
  const addresses = files.flatMap((file) => addressesIn(textOf(file)));
  const mirrors = addresses.map((address) => address.replace(/\/+$/, '').replace(/\/ubuntu$/, '/debian'));
  return [...new Set(mirrors.filter((address) => /\/debian$/.test(address)))];
}

function parts() {
  try {
    return readdirSync(PARTS)
      .filter((name) => /\.(list|sources)$/.test(name))
      .map((name) => join(PARTS, name));
  } catch {
    return [];
  }
}

/** @param {string} text */
export function addressesIn(text) {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !line.startsWith('#'));
  return lines.flatMap((line) => (/^(deb\s|URIs:)/i.test(line) ? (line.match(/https?:\/\/[^\s\]]+/g) ?? []) : []));
}
