import type { CelInput } from '@bufbuild/cel';

/** Characters of arguments and annotations, and entries of a list or object in them, that a condition is asked about. */
const LARGEST_INPUT = 65_536;
export const LONGEST_LIST = 1_000;
/** Steps that all conditions together may do on one call: a fraction of a second. */
const MOST_WORK = 500_000;

/** What a condition may speak of. */
export interface ConditionInput {
  readonly args: Readonly<Record<string, unknown>>;
  readonly tool: string;
  /** Empty where the call names none. */
  readonly server: string;
  readonly agent: { readonly id: string; readonly path: readonly string[]; readonly onBehalfOf: string };
  readonly conversation: { readonly id: string };
  readonly annotations: Readonly<Record<string, unknown>>;
}

/** A condition that does not compile, or gives no answer: why, in words for whoever wrote it. */
export class ConditionFailed extends Error {
  override readonly name = 'ConditionFailed';
}

/** The input as the engine takes it. */
export interface Prepared {
  readonly variables: Record<string, CelInput>;
  /** Of its longest list or object. */
  readonly entries: number;
  /** What may still be done on it. */
  readonly meter: { left: number };
}

const prepared = new WeakMap<ConditionInput, Prepared | ConditionFailed>();

/** Made once, however many conditions are asked about it. */
export function preparedFrom(input: ConditionInput): Prepared {
  const made = prepared.get(input) ?? prepare(input);
  prepared.set(input, made);
  if (made instanceof ConditionFailed) throw made;
  return made;
}

/** What is larger is not looked through: a person decides. */
function prepare(input: ConditionInput): Prepared | ConditionFailed {
  const free = [input.args, input.annotations];
  if (JSON.stringify(free).length > LARGEST_INPUT)
    return new ConditionFailed(`is not asked about more than ${LARGEST_INPUT} characters`);
  const entries = mostEntries(free);
  if (entries > LONGEST_LIST)
    return new ConditionFailed(`is not asked about lists or objects of over ${LONGEST_LIST} entries`);
  const variables = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, plain(value)]));
  return { variables, entries, meter: { left: MOST_WORK } };
}

function mostEntries(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const entries: unknown[] = Object.values(value);
  return entries.reduce<number>((most, one) => Math.max(most, mostEntries(one)), entries.length);
}

/** Objects become maps: there are keys (`$typeName`, `constructor`) by which the engine would take an object for something else. */
function plain(value: unknown): CelInput {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value as CelInput;
  return new Map(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}
