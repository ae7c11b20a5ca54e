import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseLossless } from './lossless-json.js';

const nested = (levels: number, open = '[', close = ']') => open.repeat(levels) + close.repeat(levels);
const pathsOf = (text: string): readonly string[] => {
  const parsed = parseLossless(text);
  return parsed.ok ? [] : parsed.errors.map((error) => error.path);
};

describe('JSON from outside', () => {
  it.each([
    '0',
    '1.0',
    '1e2',
    '0.1',
    '-0.5',
    '1e-7',
    '123456789.123',
    '9007199254740991',
    '-9007199254740991',
    '10e-1',
    '5e-324',
  ])('keeps the number %s', (text) => expect(parseLossless(text)).toEqual({ ok: true, value: Number(text) }));

  it.each([
    '9007199254740992',
    '-9007199254740993',
    '1e400',
    '-1e400',
    '123456789.123456789123',
    '1e21',
    '0.1000000000000000055',
    '1e-400',
    '-0',
    '-0.0',
  ])('refuses the number %s and says where it is', (number) =>
    expect(pathsOf(`{"a":[1,${number}]}`)).toEqual(['a[1]']),
  );

  it.each([
    ['a duplicate key', '{"a":{"b":1,"b":2}}', 'a.b'],
    ['a duplicate key that is written otherwise', '{"ab":1,"\\u0061b":1}', 'ab'],
    ['a lone surrogate', '{"a":["\\ud800"]}', 'a[0]'],
    ['a lone low surrogate', '{"a":"x\\udc00"}', 'a'],
    ['a lone surrogate in a key', '{"\\ud800":1}', '\ud800'],
    ['__proto__ anywhere', '{"a":{"__proto__":{}}}', 'a.__proto__'],
    ['__proto__ in disguise', '{"\\u005f_proto__":1}', '__proto__'],
    ['a prototype inside constructor', '{"constructor":{"prototype":{}}}', 'constructor.prototype'],
  ])('refuses %s', (_, text, path) => expect(pathsOf(text)).toEqual([path]));

  it.each(['', ' ', '{', '{"a":1,}', '[1 2]', '/* c */ 1', '01', 'NaN', '1 2', '\ufeff{}', "{'a':1}", '"\u0001"'])(
    'refuses %j: it is not JSON',
    (text) => expect(pathsOf(text)).toEqual(['']),
  );

  it('keeps the same key in different objects, paired surrogates, and a harmless constructor', () => {
    const text = '[{"a":1},{"a":{"a":"\\ud83d\\ude00"}},{"constructor":"x","prototype":1}]';
    expect(parseLossless(text)).toEqual({ ok: true, value: JSON.parse(text) as unknown });
  });

  it('is at most 64 levels deep, whatever stands in its strings', () => {
    expect(parseLossless(nested(64)).ok).toBe(true);
    expect(pathsOf(nested(65))).toEqual(['']);
    expect(parseLossless(JSON.stringify(`\\"${'['.repeat(100)}`)).ok).toBe(true);
    expect(parseLossless(`["\\\\",${nested(63)}]`).ok).toBe(true);
    expect(parseLossless('['.repeat(500_000)).ok).toBe(false);
  });

  it('names at most fifty errors', () => expect(pathsOf(`[${'-0,'.repeat(200)}-0]`)).toHaveLength(50));

  it('passes whatever JSON.stringify makes of values that doubles keep', () => {
    const number = fc.oneof(fc.maxSafeInteger(), fc.double({ min: -1e9, max: 1e9, noNaN: true })).map((n) => n + 0);
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.oneof(number, fc.string({ unit: 'grapheme' }), fc.boolean(), fc.constant(null)),
        fc.array(tie('tree'), { maxLength: 5 }),
        fc.dictionary(
          fc.string().filter((key) => key !== '__proto__' && key !== 'prototype'),
          tie('tree'),
          { noNullPrototype: true, maxKeys: 5 },
        ),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) =>
        expect(parseLossless(JSON.stringify(value))).toEqual({
          ok: true,
          value: JSON.parse(JSON.stringify(value)) as unknown,
        }),
      ),
    );
  });

  it('never throws, and accepts nothing that JSON.parse does not', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '\\u',
      'd800',
      '1',
      '-',
      'e9',
      '.',
      'null',
      ' ',
      '"a"',
      '__proto__',
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
        (text) => {
          const parsed = parseLossless(text);
          if (parsed.ok) expect(parsed.value).toEqual(JSON.parse(text));
        },
      ),
    );
  });
});
