// @ts-check
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { prepare } from './start/prepare.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const CHECKS = ['format', 'lint', 'types', 'boundaries'];
const TESTS = ['test', 'test:campaigns'];

/** What CI runs. Everything runs, whatever fails on the way; the last line counts the checks and the tests together. */
async function main() {
  await prepare(root);
  const count = { passed: 0, failed: 0 };
  for (const check of CHECKS) {
    console.log(`\n=== ${check}`);
    const { code } = await run(['run', '--silent', check]);
    count[code === 0 ? 'passed' : 'failed'] += 1;
  }
  for (const script of TESTS) {
    console.log(`\n=== ${script}`);
    const { code, text } = await run(['run', '--silent', script]);
    const passed = sumOf(text, 'passed');
    const failed = sumOf(text, 'failed');
    count.passed += passed;
    // A suite that does not even load has no tests to count.
    count.failed += code !== 0 && failed === 0 ? 1 : failed;
  }
  console.log(`\n${count.passed} passed, ${count.failed} failed`);
  process.exit(count.failed === 0 ? 0 : 1);
}

/** Of all the runner's summaries in a text. @param {string} text @param {'passed' | 'failed'} what */
const sumOf = (text, what) =>
  [...text.matchAll(new RegExp(`^Tests:.*?(\\d+) ${what}`, 'gm'))].reduce((sum, [, found]) => sum + Number(found), 0);

/** Shows what the command prints, and keeps it. @param {string[]} args @returns {Promise<{ code: number, text: string }>} */
function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const [from, to] of /** @type {const} */ ([
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]))
      from.on('data', (chunk) => {
        text += String(chunk);
        to.write(chunk);
      });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, text }));
  });
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  console.log('0 passed, 1 failed');
  process.exit(1);
});
