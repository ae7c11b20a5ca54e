import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

jest.setTimeout(180_000);
const root = join(import.meta.dirname, '..', '..');
const COPIED = [
  'apps',
  'libs',
  'deploy',
  'tools',
  'tests',
  'package.json',
  'tsconfig.json',
  'eslint.config.mjs',
  '.dependency-cruiser.mjs',
];

/** The house's own rules, each held by breaking it in a copy of the house. */
describe('the house rules', () => {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'holdpoint-tidy-'));
    for (const name of COPIED) cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  const edited = async (file: string, change: (text: string) => string, check: () => Promise<string>) => {
    const path = join(copy, file);
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, change(before));
    try {
      return await check();
    } finally {
      writeFileSync(path, before);
    }
  };
  const output = async (program: string, ...args: string[]) => {
    const command = [join('node_modules', program), ...args];
    return promisify(execFile)(process.execPath, command, { cwd: copy, maxBuffer: 1e8 }).then(
      ({ stdout }) => `passed\n${stdout}`,
      (error: { stdout: string; stderr: string }) => `failed\n${error.stdout}${error.stderr}`,
    );
  };
  const types = () => output('typescript/bin/tsc', '-p', 'tsconfig.json');

  it('a new event does not compile until each evolve and each project handles it', async () => {
    const text = await edited(
      'libs/contracts/src/events.ts',
      (events) =>
        events.replace(
          '= TurnEvent |',
          "= { readonly type: 'Planted'; readonly data: { readonly planted: true } } | TurnEvent |",
        ),
      types,
    );
    const files = new Set([...text.matchAll(/^(\S+\.ts)\(/gm)].map(([, file]) => file));
    expect(files).toContain('libs/contracts/src/events.ts');
    expect(files).toContain('libs/contracts/src/subjects.ts');
    for (const fold of ['turn', 'approval']) expect(files).toContain(`libs/fold/src/${fold}.ts`);
    for (const name of ['turns', 'approvals', 'due', 'tokens', 'attempts'])
      expect(files).toContain(`apps/approval-service/src/projections/${name}/${name}.projection.ts`);
  });

  it('a rule that reads and writes, opens a log or knows another app does not pass the boundaries', async () => {
    const planted = [
      "import 'node:fs';",
      "import '@nats-io/jetstream';",
      "import 'pg';",
      "import '#event-log/jetstream-log';",
      "import '../../../../gateway/src/http/problem.js';",
    ];
    const rules = planted.map((line, n) => {
      const rule = `apps/approval-service/src/approvals/domain/planted-${n}.ts`;
      writeFileSync(join(copy, rule), `${line}\n`);
      return rule;
    });
    const text = await output(
      'dependency-cruiser/bin/dependency-cruise.mjs',
      'apps',
      'libs',
      '--config',
      '.dependency-cruiser.mjs',
    );
    for (const rule of rules) rmSync(join(copy, rule));
    for (const rule of rules) expect(text).toContain(`${rule} →`);
  });

  it('what would break the promise of the log does not pass lint', async () => {
    const planted = [
      "export const corePublish = (connection: NatsConnection) => connection.publish('hp.v1.e1.t.x.dec');",
      "export const messageId = { msgID: 'x' };",
      "export const wildcardGuard = { lastSubjectSequenceSubject: 'hp.v1.>' };",
      'export const batch = (client: JetStreamClient) => client.startBatch();',
      "export const headerByHand = 'Nats-Rollup';",
    ];
    const imports = [
      "import type { JetStreamClient } from '@nats-io/jetstream';",
      "import type { NatsConnection } from '@nats-io/transport-node';",
    ];
    const file = 'apps/gateway/src/continuations/publish-command.ts';
    const change = (text: string) => [...imports, text, ...planted, ''].join('\n');
    const found = await edited(file, change, () => output('eslint/bin/eslint.js', '--format', 'json', file));
    const first = readFileSync(join(copy, file), 'utf8').split('\n').length + imports.length;
    for (const [n, line] of planted.entries())
      expect({ line, found: found.includes(`"line":${first + n + 1},`) }).toEqual({ line, found: true });
  });
});
