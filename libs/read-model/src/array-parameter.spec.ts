import { describe, expect, it } from '@jest/globals';
import { bytesArray, textArray } from './array-parameter.js';

const header = (oid: number, length: number) =>
  [1, 1, oid, length, 1].map((field) => field.toString(16).padStart(8, '0'));
const hex = (...parts: string[]) => parts.join('');

describe('an array for Postgres', () => {
  it('holds texts as they are, numbers and flags as their text, and null for what is not there', () =>
    expect(textArray(['a"\\,', 7, false, undefined, '']).toString('hex')).toBe(
      hex(...header(25, 5), '0000000461225c2c', '0000000137', '0000000566616c7365', 'ffffffff', '00000000'),
    ));
  it('counts bytes, not characters', () =>
    expect(textArray(['é€😀']).toString('hex')).toBe(hex(...header(25, 1), '00000009c3a9e282acf09f9880')));
  it('holds bytes', () =>
    expect(bytesArray([new Uint8Array([0, 255]), new Uint8Array()]).toString('hex')).toBe(
      hex(...header(17, 2), '0000000200ff', '00000000'),
    ));
});
