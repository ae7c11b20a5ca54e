// @ts-check
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './start/prepare.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What CI runs. The first three are quick and stop it; all tests run whatever fails among them. */
async function main() {
  await prepare(root);
  for (const check of ['format', 'lint', 'types', 'boundaries']) {
    console.log(`\n=== ${check}`);
    if ((await run('npm', ['run', '--silent', check])) !== 0) throw new Error(`${check} failed`);
  }
  const dir = mkdtempSync(join(tmpdir(), 'holdpoint-verify-'));
  const results = join(dir, 'results.json');
  console.log('\n=== test');
  const code = await run(process.execPath, ['tools/test.mjs', '--json', `--outputFile=${results}`]);
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(results, 'utf8'));
  rmSync(dir, { recursive: true });
  console.log(`${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed`);
  process.exit(code);
}

/** @param {string} command @param {string[]} args @returns {Promise<number>} */
function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', command === 'npm' ? 'inherit' : 'ignore', 'inherit'],
    });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  console.log('0 passed, 1 failed');
  process.exit(1);
});
