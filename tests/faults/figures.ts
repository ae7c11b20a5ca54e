import { exchangesOf } from './checker/check.js';
import type { Violation } from './checker/violation.js';
import type { Entry, Operation } from './ledger.js';

export interface Figures {
  readonly turns: number;
  readonly facts: number;
  readonly continuations: number;
  /** Writes that a client was told have happened. */
  readonly acknowledged: number;
  /** Acknowledged, and not in the log as it was told. */
  readonly lost: number;
  /** Happened twice that may happen once. */
  readonly doubled: number;
  readonly stuck: number;
  /** Asked and never answered: may have happened or not. */
  readonly unknown: number;
  /** Tries that got no answer or a 5xx, and were tried again. */
  readonly triedAgain: number;
  readonly toolsRun: number;
  readonly longestPauseMs: number;
}

const READS: readonly Operation[] = ['pull', 'read-turn'];

export interface Counted {
  readonly entries: readonly Entry[];
  readonly violations: readonly Violation[];
  readonly turns: number;
  readonly facts: number;
  readonly commands: number;
  readonly from: number;
  readonly to: number;
}

export function figuresOf({ entries, violations, turns, facts, commands, from, to }: Counted): Figures {
  const exchanges = exchangesOf(entries).filter(({ asked }) => !READS.includes(asked.op));
  const answered = new Set(exchanges.map(({ asked }) => asked.id));
  const asked = entries.filter((entry) => entry.is === 'asked');
  const writes = new Set(asked.filter(({ op }) => !READS.includes(op)).map(({ id }) => id));
  const count = (...names: string[]) => violations.filter(({ invariant }) => names.includes(invariant)).length;
  const decided = exchanges.filter(({ asked: { op }, told }) => op === 'decide' && told.status === 200);
  return {
    turns,
    facts,
    continuations: commands,
    acknowledged: exchanges.filter(({ told }) => told.status < 300).length,
    lost: count('I2'),
    doubled: count('I1'),
    stuck: count('I6'),
    unknown: [...writes].filter((id) => !answered.has(id)).length,
    triedAgain: entries.filter((entry) => entry.is === 'unclear' && writes.has(entry.id)).length,
    toolsRun: entries.filter(({ is }) => is === 'ran').length,
    longestPauseMs: longestPause(
      decided.map(({ told }) => told.at),
      from,
      to,
    ),
  };
}

/** The longest time in which nobody was told that a decision counted. */
function longestPause(times: readonly number[], from: number, to: number): number {
  const all = [from, ...times.filter((at) => at > from && at < to).sort((a, b) => a - b), to];
  return Math.max(0, ...all.map((at, index) => at - (all[index - 1] ?? at)));
}
