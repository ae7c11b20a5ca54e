// @ts-check
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './start/prepare.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Integration tests share their servers and take turns; each e2e test has the whole product to itself, and mostly waits. */
const RUNS = [
  ['--selectProjects', 'pure', 'integration', '--runInBand'],
  ['--selectProjects', 'e2e', '--maxWorkers=2'],
];

/** `npm test`: installs and builds what is missing, then runs the tests. What is given is passed on to the runner. */
async function main() {
  await prepare(root);
  const given = process.argv.slice(2);
  for (const chosen of given.length > 0 ? [given] : RUNS) {
    const code = await jest(chosen);
    if (code !== 0) process.exitCode = code;
  }
}

/** @param {string[]} chosen @returns {Promise<number>} */
function jest(chosen) {
  const runner = join(root, 'node_modules/jest/bin/jest.js');
  const child = spawn(process.execPath, ['--experimental-vm-modules', '--no-warnings', runner, ...chosen], {
    cwd: root,
    stdio: 'inherit',
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => child.kill(signal));
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
