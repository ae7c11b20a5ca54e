import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { labelOf } from './actions.js';
import type { Report } from './campaign.js';
import type { Figures } from './figures.js';
import type { ScenarioReport } from './scenario.js';

/** `faults.json` has everything, `faults.md` is for people. */
export function writeReport(folder: string, report: Report): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'faults.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  writeFileSync(join(folder, 'faults.md'), markdownOf(report));
}

const COLUMNS: readonly [keyof Figures, string][] = [
  ['turns', 'turns'],
  ['facts', 'facts in the log'],
  ['acknowledged', 'acknowledged'],
  ['lost', 'lost'],
  ['doubled', 'doubled'],
  ['stuck', 'stuck'],
  ['unknown', 'unknown'],
  ['triedAgain', 'tried again'],
  ['toolsRun', 'tools run'],
  ['runAgain', 'run again'],
  ['byGrant', 'approved by grants'],
  ['deniedAgain', 'denied again'],
];

export function markdownOf(report: Report): string {
  const { seed, cluster, startedAt, scenarios, violations, notRun, schedule } = report;
  const faults = scenarios.reduce((sum, one) => sum + one.faults, 0);
  return [
    `# Fault campaign, seed ${seed}, ${cluster ? 'a cluster of three' : 'one server'}`,
    '',
    `Begun ${startedAt}. ${faults} faults in ${scenarios.length} scenarios; ${violations.length} violations.`,
    '',
    table([
      ['scenario', 'faults', ...COLUMNS.map(([, title]) => title), 'longest pause', 'all ended after'],
      ...scenarios.map(row),
      totals(scenarios),
    ]),
    '',
    '## Violations',
    '',
    ...(violations.length === 0
      ? ['None.']
      : table([
          ['invariant', 'about', 'what'],
          ...violations.map((one) => [one.invariant, one.subject, one.what]),
        ]).split('\n')),
    '',
    '## Faults that happened',
    '',
    ...scenarios.flatMap(happened),
    '## Not run',
    '',
    ...(notRun.length === 0 ? ['Nothing.'] : notRun.map(({ what, why }) => `- ${what}: ${why}`)),
    '',
    '## Schedule',
    '',
    'The same seed gives the same one. Lanes go on side by side; `after` is the time since the fault before it in its lane.',
    '',
    ...schedule.flatMap(({ name, actions }) => [
      `### ${name}`,
      '',
      ...actions.map((action) => `- ${action.lane}: after ${action.afterMs} ms: ${labelOf(action)}`),
      '',
    ]),
  ].join('\n');
}

const table = ([head = [], ...rows]: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const row = ({ name, faults, figures, recoveredMs }: ScenarioReport): string[] => [
  name,
  String(faults),
  ...COLUMNS.map(([column]) => String(figures[column])),
  seconds(figures.longestPauseMs),
  seconds(recoveredMs),
];

/** The log is one, and the scenarios of one world add to it: facts are not summed. */
function totals(scenarios: readonly ScenarioReport[]): string[] {
  const sum = (column: keyof Figures) => String(scenarios.reduce((all, { figures }) => all + figures[column], 0));
  const longest = Math.max(0, ...scenarios.map(({ figures }) => figures.longestPauseMs));
  const slowest = Math.max(0, ...scenarios.map(({ recoveredMs }) => recoveredMs));
  const faults = scenarios.reduce((all, one) => all + one.faults, 0);
  const columns = COLUMNS.map(([column]) => (column === 'facts' ? '' : sum(column)));
  return ['together', String(faults), ...columns, seconds(longest), seconds(slowest)];
}

const happened = ({ name, counts, missed, endedByThemselves }: ScenarioReport): string[] => [
  `### ${name}`,
  '',
  ...Object.entries(counts)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, count]) => `- ${label}: ${count}`),
  ...missed.map((label) => `- not come to: ${label}`),
  ...(endedByThemselves.length === 0 ? [] : [`- ended by themselves: ${endedByThemselves.join(', ')}`]),
  '',
];
