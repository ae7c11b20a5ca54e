// @ts-check
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './start/prepare.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `npm test`: installs and builds what is missing, then runs the tests. What is given is passed on to the runner. */
async function main() {
  await prepare(root);
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const runner = spawn(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', jest, ...process.argv.slice(2)],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => runner.kill(signal));
  runner.on('exit', (code) => process.exit(code ?? 1));
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
