import fc from 'fast-check';
import { hostileText, HOSTILE_NUMBERS, PROTOTYPE_KEYS } from './hostile.js';

/** What a node of a JSON text becomes; nothing where it is left out. */
type NodeDamage = { readonly what: string; readonly to: (text: string) => string | undefined };

const replaced = (what: string, text: string): NodeDamage => ({ what, to: () => text });
const inside = (extra: string) => (text: string) =>
  text.startsWith('{') && text !== '{}' ? `{${extra},${text.slice(1)}` : `{${extra}}`;
const twice = (text: string): string =>
  text.startsWith('{') && text !== '{}' ? `${text.slice(0, -1)},${text.slice(1)}` : text;
const deep = (levels: number, open: string, close: string) => (text: string) =>
  open.repeat(levels) + text + close.repeat(levels);

const nodeDamage = (): fc.Arbitrary<NodeDamage> =>
  fc.oneof(
    fc.constantFrom<NodeDamage>(
      { what: 'left out', to: () => undefined },
      { what: 'twice the same keys', to: twice },
      ...['null', 'true', '[]', '{}', '""', '7', '[null]', '{"a":{"b":[]}}'].map((text) =>
        replaced(`replaced by ${text}`, text),
      ),
      ...HOSTILE_NUMBERS.map((text) => replaced(`replaced by ${text}`, text)),
      ...PROTOTYPE_KEYS.map((key) => ({ what: `with the key ${key}`, to: inside(`"${key}":{"polluted":true}`) })),
      { what: 'with a field more', to: inside('"surplus":1') },
      { what: 'in a list', to: deep(1, '[', ']') },
      { what: 'an empty list in a list', to: () => '[[]]' },
      { what: 'in 70 lists', to: deep(70, '[', ']') },
      { what: 'in 20,000 lists', to: deep(20_000, '[', ']') },
      { what: 'in 5,000 objects', to: deep(5_000, '{"a":', '}') },
      replaced('100 kB long', `"${'x'.repeat(100_000)}"`),
      replaced('10,000 items', `[${'0,'.repeat(9_999)}0]`),
    ),
    hostileText().map((text) => replaced('hostile text', JSON.stringify(text))),
    hostileText().map((text) => ({ what: 'with a hostile key', to: inside(`${JSON.stringify(text)}:1`) })),
  );

/** A JSON text of the value in which the node at a place, counted through the tree, is damaged. */
function render(value: unknown, at: number, damage: NodeDamage): string {
  let count = -1;
  const write = (node: unknown): string | undefined => {
    count += 1;
    const isTheOne = count === at;
    const text = writeParts(node);
    return isTheOne ? damage.to(text) : text;
  };
  const writeParts = (node: unknown): string => {
    if (Array.isArray(node)) return `[${node.map(write).filter(isThere).join(',')}]`;
    if (typeof node !== 'object' || node === null) return JSON.stringify(node) ?? 'null';
    const pairs = Object.entries(node).map(([key, inner]) => pair(key, write(inner)));
    return `{${pairs.filter(isThere).join(',')}}`;
  };
  return write(value) ?? '';
}

const pair = (key: string, text: string | undefined) =>
  text === undefined ? undefined : `${JSON.stringify(key)}:${text}`;
const isThere = (text: string | undefined): text is string => text !== undefined;

const sizeOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner), 0)
    : 1;

/** How a value becomes the bytes of a body. */
export type Writing = (value: unknown) => Buffer;

/** As a text in which one node is damaged. */
const damagedText = (): fc.Arbitrary<Writing> =>
  fc.tuple(fc.nat(), nodeDamage()).map(
    ([at, damage]): Writing =>
      (value) =>
        Buffer.from(render(value, at % sizeOf(value), damage)),
  );

type BytesDamage = (bytes: Buffer) => Buffer;

/** Damage that knows nothing of JSON: cut, flipped, doubled, in another encoding. */
const bytesDamage = (): fc.Arbitrary<BytesDamage> =>
  fc.oneof(
    fc.nat().map(
      (at): BytesDamage =>
        (bytes) =>
          bytes.subarray(0, at % (bytes.length + 1)),
    ),
    fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })).map(
      ([at, mask]): BytesDamage =>
        (bytes) =>
          flipped(bytes, at, mask),
    ),
    fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 8 })).map(
      ([at, more]): BytesDamage =>
        (bytes) =>
          inserted(bytes, at, more),
    ),
    fc.constantFrom<BytesDamage>(
      (bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]),
      (bytes) => Buffer.from(bytes.toString('utf8'), 'utf16le'),
      (bytes) => Buffer.from(bytes.toString('utf8'), 'latin1'),
      (bytes) => Buffer.concat([bytes, bytes]),
      () => Buffer.alloc(0),
    ),
  );

function flipped(bytes: Buffer, at: number, mask: number): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0) copy[at % copy.length] = (copy[at % copy.length] ?? 0) ^ mask;
  return copy;
}

function inserted(bytes: Buffer, at: number, more: Uint8Array): Buffer {
  const place = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, place), more, bytes.subarray(place)]);
}

const whole: Writing = (value) => Buffer.from(JSON.stringify(value) ?? '');

/** Mostly as it should be, else damaged as a text, else as bytes. */
export const writing = (): fc.Arbitrary<Writing> =>
  fc.oneof(
    { arbitrary: fc.constant(whole), weight: 8 },
    { arbitrary: damagedText(), weight: 4 },
    {
      arbitrary: bytesDamage().map(
        (damage): Writing =>
          (value) =>
            damage(whole(value)),
      ),
      weight: 2,
    },
  );
