import { celEnv, isCelList, isCelMap, type CelEnv, type CelValue } from '@bufbuild/cel';
import { RE2JS } from 're2js';
import { LONGEST_LIST, type Prepared } from './condition-input.js';

/** Instructions of a compiled pattern. */
const LARGEST_PATTERN = 1_000;

type Group = NonNullable<ReturnType<CelEnv['funcs']['find']>>;
type Call = Group['call'];

/** Of the call that is asked about now: nothing waits while a condition runs, so there is never a second. */
let meter: Prepared['meter'] = { left: 0 };

/** Counts what is done in `run`, which ends in the middle where it is too much. It is not timed: it ends at the same place everywhere. */
export function metered<Value>({ meter: own, entries }: Prepared, partsInLoops: number, run: () => Value): Value {
  meter = own;
  spend(partsInLoops * entries);
  return run();
}

function spend(work: number): void {
  meter.left -= work;
  if (meter.left < 0) throw new Error('does too much');
}

const PLAIN = celEnv();
const groups = new Map<string, Group>();

/** The language's own functions, each of which counts what it does. */
const COUNTED = Object.create(PLAIN.funcs, { find: { value: countedGroup } }) as CelEnv['funcs'];
export const ENVIRONMENT = Object.create(PLAIN, { funcs: { value: COUNTED } }) as CelEnv;

/** Those that are no functions to the engine. */
const OPERATORS: ReadonlySet<string> = new Set(['_[_]', '_?_:_', '_&&_', '_||_', '@not_strictly_false']);

export const isFunction = (name: string): boolean => OPERATORS.has(name) || countedGroup(name) !== undefined;

/** What it throws ends the whole condition: an error that is returned is one that `||` and loops get over. */
function countedGroup(name: string): Group | undefined {
  const group = groups.get(name) ?? PLAIN.funcs.find(name);
  if (!group || groups.has(name)) return group;
  const run: Call = name === 'matches' ? matches(group) : (...given) => group.call(...given);
  const call: Call = (id, target, args) => {
    spend((target === undefined ? args : [target, ...args]).reduce<number>((sum, one) => sum + workOn(name, one), 1));
    return noLonger(run(id, target, args));
  };
  const counted = Object.create(group, { call: { value: call } }) as Group;
  groups.set(name, counted);
  return counted;
}

/** What the pieces of a condition give to each other is no longer than what it may be asked about. */
function noLonger<Value>(value: Value): Value {
  if (isCelList(value) && value.size > LONGEST_LIST) throw new Error(`makes a list of over ${LONGEST_LIST}`);
  return value;
}

function workOn(name: string, value: CelValue): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length / 16;
  const compares = name === '_==_' || name === '_!=_' || (name === '@in' && isCelList(value));
  return compares ? itemsOf(value) : 0;
}

/** A list that was put together is quicker asked for each item than walked. */
function itemsOf(value: CelValue | undefined): number {
  if (isCelMap(value)) return [...value.values()].reduce<number>((sum, one) => sum + itemsOf(one), 1);
  if (!isCelList(value)) return 1;
  return Array.from({ length: value.size }, (_, at) => itemsOf(value.get(at))).reduce((sum, one) => sum + one, 1);
}

/** In time that grows with the text alone, whatever the pattern. */
const matches =
  (group: Group): Call =>
  (id, text, args) => {
    const [pattern, ...more] = args;
    if (typeof text !== 'string' || typeof pattern !== 'string' || more.length > 0) return group.call(id, text, args);
    const compiled = compilePattern(pattern);
    const size = compiled.programSize();
    spend(20 + size + (size * text.length) / 64);
    return compiled.test(text);
  };

/** Throws where it is no pattern, or too large a one; one that repeats too often is not even compiled. */
export function compilePattern(pattern: string): RE2JS {
  const repeats = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most]) => Number(most || least));
  const compiled = repeats.reduce((sum, one) => sum + one, 0) > LARGEST_PATTERN ? undefined : RE2JS.compile(pattern);
  if (!compiled || compiled.programSize() > LARGEST_PATTERN) throw new Error('is too large');
  return compiled;
}
