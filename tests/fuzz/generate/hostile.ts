import fc from 'fast-check';

/** Texts that mean something else to a log, a folder, a reader, a parser or a database. */
const HOSTILE_TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\u202eabc',
  'a\u200bb',
  'A\u030a',
  '\u212b',
  '\ufeffx',
  '\ud800',
  '\udfff\ud800',
  '😀'.repeat(40),
  '*',
  '>',
  'hp.v1.e1.default.x.dec',
  'a.b',
  '../../etc/passwd',
  '%00',
  '${7*7}',
  "' OR 1=1 --",
  '\r\nx-injected: 1',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'NaN',
  '-1',
  '1e309',
  'null',
  'x'.repeat(129),
  'x'.repeat(5_000),
  'ı'.repeat(200),
] as const;

/** Keys by which a careless merge or look-up reaches what every object has. */
export const PROTOTYPE_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
] as const;

/** Numbers as JSON can write them and a double, an integer or a clock cannot hold them. */
export const HOSTILE_NUMBERS = [
  '-0',
  '0',
  '-1',
  '1.5',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740993',
  '-9007199254740993',
  '123456789012345678901234567890',
  '0.1000000000000000055511151231257827',
  '2147483648',
  '8640000000000001',
  '1E5',
  '01',
  '.5',
  '0x10',
  'Infinity',
  'NaN',
] as const;

export const hostileText = (): fc.Arbitrary<string> =>
  fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: 'binary', maxLength: 40 }));

/** Any JSON value, with the keys and texts that break things; as a parser would give it. */
export const anyJson = (): fc.Arbitrary<unknown> =>
  fc
    .oneof(
      fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' }),
      fc.dictionary(
        fc.oneof(fc.constantFrom(...PROTOTYPE_KEYS, '', 'a.b'), fc.string({ maxLength: 8 })),
        fc.jsonValue({ maxDepth: 1 }),
        {
          maxKeys: 5,
        },
      ),
    )
    .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

export const anyObject = (): fc.Arbitrary<unknown> =>
  fc
    .dictionary(
      fc.oneof(fc.string({ unit: 'grapheme', maxLength: 8 }), fc.constantFrom(...PROTOTYPE_KEYS)),
      anyJson(),
      { maxKeys: 4 },
    )
    .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** JSON that nobody could object to: what is to be kept exactly as it was sent. */
export const { json: plainJson, object: plainObject } = fc.letrec<{ json: unknown; object: unknown; text: string }>(
  (tie) => ({
    json: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom(null, true, false, 0.5, -3, 1e21 / 1e21),
      fc.integer(),
      tie('text'),
      fc.array(tie('json'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(tie('text'), tie('json'), { maxKeys: 3, noNullPrototype: true }),
    text: fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => text !== '__proto__'),
  }),
);
