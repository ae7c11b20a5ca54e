import { describe, expect, it } from '@jest/globals';
import { compileInputSchema } from './input-schema.js';

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
