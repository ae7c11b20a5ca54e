import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.js';
import { planted } from './plants/main-planted.js';
import { writeReport } from './report.js';
import { UsageError } from './usage-error.js';
import { isSelection, SELECTIONS } from './selections.js';

const USAGE = `npm run faults -- [--minutes 10] [--seed N] [--cluster] [--only name,name] [--kills N] [--report dir] [--selection ci]
npm run faults -- --planted [names] [--seed N] [--report dir]`;

/** Ends with 0 where nothing was found, 1 where something was, 2 where it was asked wrongly. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      kills: { type: 'string' },
      cluster: { type: 'boolean', default: false },
      only: { type: 'string' },
      report: { type: 'string', default: '.holdpoint/faults' },
      selection: { type: 'string' },
      planted: { type: 'boolean', default: false },
    },
  });
  if (values.planted) return planted(positionals, number('seed', values.seed), values.report);
  if (positionals.length > 0) throw new UsageError(`What is ${positionals.join(' ')}?`);
  const { selection: name } = values;
  if (name !== undefined && !isSelection(name))
    throw new UsageError(`The selections are ${Object.keys(SELECTIONS).join(', ')}`);
  const report = await runCampaign({
    ...(name === undefined ? {} : SELECTIONS[name]),
    seed: number('seed', values.seed),
    ...(values.minutes === undefined ? {} : { minutes: number('minutes', values.minutes) }),
    ...(values.kills === undefined ? {} : { kills: number('kills', values.kills) }),
    ...(values.only === undefined ? {} : { scenarios: values.only.split(',') }),
    cluster: values.cluster,
    log: (line) => console.log(line),
  });
  writeReport(values.report, report);
  console.log(`${report.violations.length} violations; the report is in ${values.report}/faults.md`);
  for (const { invariant, subject, what } of report.violations.slice(0, 50))
    console.log(`${invariant} ${subject}: ${what}`);
  return report.violations.length === 0 ? 0 : 1;
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) throw new UsageError(`--${name} must be a number`);
  return value;
}

/** As `parseArgs` says it. */
const isUnknownOption = (error: unknown): error is Error =>
  error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const isUsage = error instanceof UsageError || isUnknownOption(error);
    console.error(isUsage ? `${error.message}\n${USAGE}` : error);
    process.exitCode = isUsage ? 2 : 1;
  },
);
