import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import {
  AnyJson,
  CallerId,
  Digest,
  FreeObject,
  Int,
  Name,
  Names,
  Nested,
  NestedList,
  OneOf,
  Optional,
} from './fields.js';
import { isValid } from './validity.js';

class Inner {
  @Name(10) name: string;
  @Optional() @Int(0, 60) count?: number;
}
class Base {
  @CallerId() id: string;
}
class Shape extends Base {
  @OneOf(['all', 'each']) release: string;
  @Nested(() => Inner) one: Inner;
  @Optional() @NestedList(() => Inner, 2) many?: Inner[];
  @Optional() @Names(2, 5) names?: string[];
  @Optional() @Digest() digest?: string;
  @FreeObject() free: object;
  @AnyJson() any: unknown;
}

const odd = fc.constantFrom<unknown>(
  undefined,
  null,
  '',
  'x',
  ' x',
  'each',
  0,
  61,
  1.5,
  Number.NaN,
  true,
  [],
  ['x'],
  [null],
  {},
  [[]],
);
/** Mostly good, sometimes odd: so that both answers are common. */
const or = <T>(good: fc.Arbitrary<T>) => fc.oneof({ weight: 19, arbitrary: good }, { weight: 1, arbitrary: odd });
const made = <T extends object>(shape: new () => T, fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(fields).map((values) => Object.assign(new shape(), values));

const inner = made(Inner, { name: or(fc.constant('a name')), count: or(fc.constantFrom(undefined, 5)) });
const instances = made(Shape, {
  id: or(fc.constant('conv-1')),
  release: or(fc.constant('all')),
  one: or(inner),
  many: or(fc.option(fc.array(or(inner), { maxLength: 3 }), { nil: undefined })),
  names: or(fc.constantFrom(undefined, ['a'], ['a', 'b', 'c'], ['toolong'])),
  digest: or(fc.constantFrom(undefined, `sha256:${'0'.repeat(64)}`, 'sha256:0')),
  free: or(fc.constant({ a: 1 })),
  any: or(fc.anything()),
});

describe('what is valid', () => {
  it('is what class-validator says', () => {
    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(instances, (instance) => {
        const theirs = validateSync(instance, { forbidUnknownValues: true }).length === 0;
        seen[`${theirs}`] += 1;
        expect(isValid(instance)).toBe(theirs);
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(200);
  });

  it('is nothing of a class without rules', () => expect(isValid(new (class None {})())).toBe(false));
});
