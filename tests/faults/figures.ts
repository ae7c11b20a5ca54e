import { exchangesOf, type Verdict } from './checker/check.js';
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
  /** Of them, those that ran a call that had run before. */
  readonly runAgain: number;
  /** Approvals that a grant gave, and denials that were repeated: nobody was asked. */
  readonly byGrant: number;
  readonly deniedAgain: number;
  readonly longestPauseMs: number;
}

const READS: readonly Operation[] = ['pull', 'read-turn'];

export interface Counted extends Verdict {
  readonly entries: readonly Entry[];
  readonly turns: number;
  readonly from: number;
  readonly to: number;
}

export function figuresOf(counted: Counted): Figures {
  const { entries, violations, turns, facts, commands, precedents, from, to } = counted;
  const exchanges = exchangesOf(entries).filter(({ asked }) => !READS.includes(asked.op));
  const answered = new Set(exchanges.map(({ asked }) => asked.id));
  const asked = entries.filter((entry) => entry.is === 'asked');
  const writes = new Set(asked.filter(({ op }) => !READS.includes(op)).map(({ id }) => id));
  const count = (...names: string[]) => violations.filter(({ invariant }) => names.includes(invariant)).length;
  const ran = entries.filter((entry) => entry.is === 'ran');
  const since = precedents.filter(({ time }) => Date.parse(time) >= from);
  const decidedBy = (kind: string) => since.filter(({ body }) => body.actor.kind === kind).length;
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
    toolsRun: ran.length,
    runAgain: ran.length - new Set(ran.map(({ approvalId }) => approvalId)).size,
    byGrant: decidedBy('grant'),
    deniedAgain: decidedBy('denial'),
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
