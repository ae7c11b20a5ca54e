// @ts-check
import { fsyncSync, openSync, writeSync } from 'node:fs';

/**
 * The ledger: a process of its own that writes down, durably and in order, what clients asked and what they were told. It
 * knows nothing of the product, and lives on where the clients die. One JSON object a line.
 */
const file = openSync(process.argv[2] ?? '', 'a');
/** @type {string[]} */
let lines = [];
/** @type {number[]} */
let waiting = [];

process.on('message', (/** @type {{ lines?: string[], flush?: number }} */ message) => {
  lines.push(...(message.lines ?? []));
  if (message.flush !== undefined) waiting.push(message.flush);
  setImmediate(write);
});
// Whoever asked is gone: everything is on disk, and there is nothing more to come.
process.on('disconnect', () => {
  write();
  process.exit(0);
});
// Ctrl-C is for the campaign, which then lets go of the ledger.
process.on('SIGINT', () => undefined);

function write() {
  if (lines.length > 0) {
    writeSync(file, lines.map((line) => `${line}\n`).join(''));
    fsyncSync(file);
    lines = [];
  }
  for (const flushed of waiting) process.send?.({ flushed });
  waiting = [];
}
