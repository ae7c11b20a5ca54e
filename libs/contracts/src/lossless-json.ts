import { visit, type JSONPath } from 'jsonc-parser';
import type { FieldError, Parsed } from './parse.js';

export const MAX_DEPTH = 64;
const MAX_ERRORS = 50;
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * Parses JSON from outside, or says where it is not I-JSON: what cannot be kept exactly as it was sent is refused, never
 * rounded or repaired. The grammar is `JSON.parse`'s; the visitor only looks for what that one lets pass in silence.
 */
export function parseLossless(text: string): Parsed<unknown> {
  if (isTooDeep(text))
    return { ok: false, errors: [{ path: '', message: `must not be nested deeper than ${MAX_DEPTH} levels` }] };
  try {
    const value: unknown = JSON.parse(text);
    const errors = lossesIn(text);
    return errors.length > 0 ? { ok: false, errors } : { ok: true, value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ok: false, errors: [{ path: '', message: 'must be valid JSON' }] };
  }
}

/** Runs before anything that recurses: brackets outside strings, counted in one pass. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) inString = !inString;
    else if (inString) at += code === BACKSLASH ? 1 : 0;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

const [QUOTE, BACKSLASH, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = [0x22, 0x5c, 0x7b, 0x5b, 0x7d, 0x5d];

function lossesIn(text: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const keys: Set<string>[] = [];
  const report = (message: string | undefined, path: JSONPath) => {
    if (message !== undefined && errors.length < MAX_ERRORS) errors.push({ path: pathText(path), message });
  };
  visit(text, {
    onObjectBegin: () => void keys.push(new Set()),
    onObjectEnd: () => void keys.pop(),
    onObjectProperty: (...[key, , , , , parent]) => {
      const siblings = keys.at(-1) ?? new Set();
      const message = siblings.has(key) ? 'stands here more than once' : wrongWithKey(key, parent);
      if (message !== undefined) report(message, [...parent(), key]);
      siblings.add(key);
    },
    onLiteralValue: (...[value, at, length, , , path]) => {
      const message = wrongWithLiteral(value, () => text.slice(at, at + length));
      if (message !== undefined) report(message, path());
    },
  });
  return errors;
}

/** The two keys by which a later, careless merge could reach the prototype of everything. */
function wrongWithKey(key: string, parent: () => JSONPath): string | undefined {
  if (key === '__proto__') return 'must not be used as a key';
  if (key === 'prototype' && parent().at(-1) === 'constructor') return 'must not be used as a key inside "constructor"';
  return LONE_SURROGATE.test(key) ? 'has a key with a surrogate that is not one of a pair' : undefined;
}

function wrongWithLiteral(value: unknown, source: () => string): string | undefined {
  if (typeof value === 'string')
    return LONE_SURROGATE.test(value) ? 'has a surrogate that is not one of a pair' : undefined;
  return typeof value === 'number' ? wrongWithNumber(value, source()) : undefined;
}

function wrongWithNumber(value: number, source: string): string | undefined {
  if (Object.is(value, -0)) return 'is -0, which cannot be told from 0; send 0';
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return 'is an integer beyond ±(2^53−1); send it as a string';
  if (!Number.isFinite(value) || decimalOf(source) !== decimalOf(String(value)))
    return 'is a number that a double cannot keep; send it as a string';
  return undefined;
}

/** One text for every way to write the same decimal: 1.0, 1 and 10e-1 are one. */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const places = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${places}`;
}

const pathText = (path: JSONPath): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );
