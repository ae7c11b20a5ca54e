// @ts-check
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './start/prepare.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `npm run faults|fuzz|bench`: builds the product and the harness, then runs it. What is given is passed on. */
async function main() {
  const [name = '', ...given] = process.argv.slice(2);
  await prepare(root);
  const swc = join(root, 'node_modules/@swc/cli/bin/swc.js');
  const built = await node([swc, 'tests', '--out-dir', 'dist', '--config-file', '.swcrc', '--quiet']);
  process.exitCode = built === 0 ? await node([join('dist/tests', name, 'main.js'), ...given]) : built;
}

/** @param {string[]} args @returns {Promise<number>} */
function node(args) {
  const child = spawn(process.execPath, ['--enable-source-maps', ...args], { cwd: root, stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
