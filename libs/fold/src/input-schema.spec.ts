import { describe, expect, it } from '@jest/globals';
import { inTime, OutOfTime } from './in-time.js';
import { compileInputSchema, compileInputSchemas } from './input-schema.js';

const errors = (schema: Record<string, unknown>, value: unknown) => {
  const compiled = compileInputSchema(schema);
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.validate(value);
};

describe('a JSON Schema 2020-12 of a tool', () => {
  it('says which field is wrong', () =>
    expect(
      errors({ properties: { a: { type: 'object', properties: { b: { type: 'string' } } } } }, { a: { b: 7 } }),
    ).toMatchObject([{ path: 'a.b' }]));
  it('says which is missing', () => expect(errors({ required: ['to'] }, {})).toMatchObject([{ path: 'to' }]));
  it('says which is too much', () =>
    expect(errors({ additionalProperties: false }, { x: 1 })).toMatchObject([{ path: 'x' }]));
  it('says which item', () =>
    expect(errors({ properties: { a: { items: { type: 'string' } } } }, { a: ['x', 7] })).toMatchObject([
      { path: 'a[1]' },
    ]));
  it('knows prefixItems', () =>
    expect(errors({ properties: { a: { prefixItems: [{ type: 'string' }] } } }, { a: [7] })).toHaveLength(1));
  it('knows $defs and references into itself', () =>
    expect(
      errors({ $defs: { n: { type: 'integer' } }, properties: { a: { $ref: '#/$defs/n' } } }, { a: 1.5 }),
    ).toHaveLength(1));
  it('knows unevaluatedProperties', () =>
    expect(errors({ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1, b: 2 })).toHaveLength(
      1,
    ));
  it('knows formats', () =>
    expect(errors({ properties: { a: { type: 'string', format: 'email' } } }, { a: 'nobody' })).toHaveLength(1));
  it('lets through what satisfies it', () =>
    expect(errors({ type: 'object', properties: { a: { type: 'string', pattern: '^x+$' } } }, { a: 'xx' })).toEqual(
      [],
    ));
  it('cannot be made slow by a pattern', () =>
    expect(
      errors({ properties: { a: { type: 'string', pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(50_000)}!` }),
    ).toHaveLength(1));
  it('keeps its patterns apart', () => {
    const schema = { properties: { a: { pattern: '^x+$' }, b: { pattern: '^y+$' } } };
    expect(errors(schema, { a: 'x', b: 'y' })).toEqual([]);
    expect(errors(schema, { a: 'x', b: 'x' })).toMatchObject([{ path: 'b' }]);
    expect(errors(schema, { a: 'y', b: 'y' })).toMatchObject([{ path: 'a' }]);
  });
  it('is not fetched from elsewhere', () =>
    expect(compileInputSchema({ $ref: 'https://example.com/s.json' })).toMatchObject({ ok: false }));
  it('is told where it is none', () => expect(compileInputSchema({ type: 'nonsense' })).toMatchObject({ ok: false }));
  it('does not meet another of the same name', () => {
    const named = (type: string) => ({ $id: 'https://example.com/same', properties: { a: { type } } });
    expect([errors(named('string'), { a: 'x' }), errors(named('number'), { a: 1 })]).toEqual([[], []]);
  });
});

describe('a schema that an agent made to do harm', () => {
  const forever = (depth: number) => ({
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      Array.from({ length: depth }, (_, n) => {
        const next = { $ref: `#/$defs/d${n + 1}` };
        return [`d${n}`, n === depth - 1 ? { type: 'object' } : { allOf: [next, next] }];
      }),
    ),
  });
  const withoutEnd = { $ref: '#' };
  const notChecked = [{ path: '', message: expect.stringContaining('cannot be checked') }];

  it('with references that double at each step, is stopped', () => {
    const began = performance.now();
    expect(errors(forever(60), {})).toEqual(notChecked);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
  it('with every item compared to every other, is stopped', () => {
    const items = Array.from({ length: 100_000 }, (_, n) => ({ n }));
    expect(errors({ properties: { items: { uniqueItems: true } } }, { items })).toEqual(notChecked);
  });
  it('with a reference to itself, lets nothing through', () => expect(errors(withoutEnd, {})).toEqual(notChecked));
  it('with an answer that is a promise, is none', () =>
    expect(compileInputSchema({ $async: true, required: ['a'] })).toMatchObject({ ok: false }));
  it('with a promise within, is none', () =>
    expect(
      compileInputSchema({ $defs: { a: { $async: true, type: 'string' } }, properties: { a: { $ref: '#/$defs/a' } } }),
    ).toMatchObject({ ok: false }));
  it('with very many fields, is not compiled for long, nor are many of them', () => {
    const wide = (name: string) => ({
      properties: Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`${name}${n}`, { type: 'string' }])),
    });
    const began = performance.now();
    const compiled = compileInputSchemas(Array.from({ length: 30 }, (_, n) => wide(`f${n}_`)));
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(compiled).toHaveLength(30);
    expect(compiled.at(-1)).toEqual({ ok: false, message: 'takes too long' });
  });
  it('leaves the next one alone', () => {
    expect(errors(forever(61), {})).toEqual(notChecked);
    expect(errors({ required: ['next'] }, {})).toMatchObject([{ path: 'next' }]);
    expect(errors({ required: ['next'] }, { next: 1 })).toEqual([]);
  });
});

describe('the schemas of one turn', () => {
  it('are answered in their order, and a call may have none', () =>
    expect(compileInputSchemas([{ type: 'object' }, undefined, { type: 'nonsense' }])).toMatchObject([
      { ok: true },
      undefined,
      { ok: false, message: expect.stringContaining('schema/type') },
    ]));
});

describe('what is run in time', () => {
  it('gives what it comes to', () => expect(inTime(1_000, () => 7)).toBe(7));
  it('throws what it throws', () =>
    expect(() =>
      inTime(1_000, () => {
        throw new RangeError('mine');
      }),
    ).toThrow(new RangeError('mine')));
  it('is stopped in the middle', () =>
    expect(() =>
      inTime(20, () => {
        for (;;);
      }),
    ).toThrow(OutOfTime));
  it('is not begun without time', () => {
    let begun = false;
    expect(() => inTime(0, () => (begun = true))).toThrow(OutOfTime);
    expect(begun).toBe(false);
  });
});
