import { parseArgs } from 'node:util';

/** What can be made smaller or larger; each bench has its own sizes where nothing is said. */
const SIZES = [
  'events',
  'rounds',
  'seconds',
  'pending',
  'streams',
  'workers',
  'concurrency',
  'per-second',
  'requests',
] as const;
type Size = (typeof SIZES)[number];

export type BenchOptions = Readonly<Partial<Record<Size, number>>>;
/** Gives its figures one by one; the last, where it is held against a floor, is the ratio of product and floor. */
export type Bench = (options: BenchOptions) => AsyncGenerator<object>;

export interface Asked {
  readonly name: string;
  readonly options: BenchOptions;
}

export function readArguments(args: readonly string[]): Asked {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: Object.fromEntries(SIZES.map((size) => [size, { type: 'string' as const }])),
  });
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new Error('Say which benchmark: npm run bench -- <name>');
  const sizes = SIZES.flatMap((size) => (values[size] === undefined ? [] : [[size, wholeNumber(size, values[size])]]));
  return { name, options: Object.fromEntries(sizes) as BenchOptions };
}

function wholeNumber(size: Size, value: unknown): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new Error(`--${size} must be a whole number from 1 on`);
}
