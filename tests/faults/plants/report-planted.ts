import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { summaryOf, type Trial } from './run-planted.js';

/** Writes `planted.md` and `planted.json` and says where. */
export function writePlanted(folder: string, seed: number, trials: readonly Trial[]): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'planted.json'), `${JSON.stringify({ seed, trials }, undefined, 2)}\n`);
  const file = join(folder, 'planted.md');
  writeFileSync(file, markdownOf(seed, trials));
  return file;
}

function markdownOf(seed: number, trials: readonly Trial[]): string {
  const asTheyMust = trials.filter(({ isAsItMust }) => isAsItMust).length;
  const head = [
    '# Planted faults',
    '',
    `Seed ${seed}: ${asTheyMust} of ${trials.length} campaigns came out as they must.`,
    '',
    '| planted fault | what it does | must be found by | found by | for example | s | |',
    '| --- | --- | --- | --- | --- | --- | --- |',
  ];
  return [...head, ...trials.map(rowOf), ''].join('\n');
}

function rowOf(trial: Trial): string {
  const { name, what, mustBeFoundBy, example, seconds, isAsItMust } = trial;
  const cells = [name, what, mustBeFoundBy.join(' or ') || 'none', summaryOf(trial), example, seconds];
  return `| ${[...cells, isAsItMust ? 'as it must' : 'NOT as it must'].map(inCell).join(' | ')} |`;
}

const inCell = (text: string | number): string => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
