// @ts-check
import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isAlive, processBegan, textOf } from '../servers/processes.mjs';

/**
 * Takes the lock, or says who has it. A process number alone proves nothing, since it is used again: the lock also names when
 * its process began.
 * @param {string} file @returns {{ taken: true, release: () => void } | { taken: false, pid: number }}
 */
export function takeLock(file) {
  mkdirSync(dirname(file), { recursive: true });
  const mine = JSON.stringify({ pid: process.pid, began: processBegan(process.pid) });
  const release = () => (textOf(file) === mine ? rmSync(file, { force: true }) : undefined);
  for (;;) {
    if (writeWhereNone(file, mine)) return { taken: true, release };
    const theirs = textOf(file);
    const { pid, began } = parsed(theirs);
    if (pid > 0 && isAlive(pid) && processBegan(pid) === began) return { taken: false, pid };
    removeStale(file, theirs);
  }
}

/** Linked into place whole: a lock that was half written would be nobody's. @param {string} file @param {string} text */
function writeWhereNone(file, text) {
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, text, { mode: 0o600 });
  try {
    linkSync(beside, file);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(beside, { force: true });
  }
}

/** Another start may have taken it over in between: what was moved away is looked at, and put back. @param {string} file @param {string} stale */
function removeStale(file, stale) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = textOf(aside);
  if (moved !== stale) writeWhereNone(file, moved);
  rmSync(aside, { force: true });
}

/** @param {string} text @returns {{ pid: number, began: string }} */
function parsed(text) {
  try {
    const { pid, began } = JSON.parse(text);
    return { pid: Number(pid), began: String(began) };
  } catch {
    return { pid: 0, began: '' };
  }
}
