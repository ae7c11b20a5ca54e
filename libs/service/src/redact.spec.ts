import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { redact } from './redact.js';

const GONE = '[redacted]';
/** Put together here, so that no scanner takes them for lost keys. */
const made = (...parts: string[]) => parts.join('');

describe('what is redacted by its key', () => {
  it.each([
    'password',
    'userPassword',
    'api_key',
    'API-Key',
    'x-api-key',
    'access_token',
    'refreshToken',
    'Authorization',
    'Set-Cookie',
    'client_secret',
    'privateKey',
    'PIN',
    'cvv',
    'auth',
    'credentials',
    'passphrase',
    'db_pwd',
  ])('%s', (key) => expect(redact({ [key]: 'x' })).toEqual({ [key]: GONE }));
  it('however deep, in lists, and whatever it is', () =>
    expect(redact({ a: [{ b: { secret: { inner: [1] }, pin: 1234 } }] })).toEqual({
      a: [{ b: { secret: GONE, pin: GONE } }],
    }));
  it('in an object that is sent as text', () =>
    expect(redact({ body: '{"password":"x","n":1}' })).toEqual({ body: `{"password":"${GONE}","n":1}` }));
  it.each([
    { max_tokens: 100, tokenLimit: 5 },
    { author: 'ada', tokenized: false, password: null, secret: '', monkey: 'x', keyboard: 'y', pinned: 'z' },
  ])('and nothing that only sounds like it: %j', (value) => expect(redact(value)).toEqual(value));
});

describe('what is redacted by its shape', () => {
  it.each([
    ['a bearer token', 'Authorization: Bearer abcdefgh12345678', `Authorization: Bearer ${GONE}`],
    ['a JWT', `see ${made('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxIn0', '.c2lnbmF0dXJl')}.`, `see ${GONE}.`],
    [
      'a PEM key',
      made('x -----BEGIN RSA PRIVATE', ' KEY-----\nMIIE\n-----END RSA PRIVATE', ' KEY----- y'),
      `x ${GONE} y`,
    ],
    ['a PEM key that was cut', made('-----BEGIN PRIVATE', ' KEY-----\nMIIE'), GONE],
    ['a Holdpoint token', `hp_tk_${'a'.repeat(26)}_${'B'.repeat(32)}`, GONE],
    ['an AWS key', made('AKIA', 'IOSFODNN7EXAMPLE'), GONE],
    ['a GitHub token', made('ghp_', 'a'.repeat(36)), GONE],
    ['a Slack token', made('xoxb-', '1234567890-abc'), GONE],
    ['a Stripe key', made('sk_', 'live_', 'a'.repeat(24)), GONE],
    ['a Google key', made('AIza', 'A'.repeat(35)), GONE],
    ['a password in an address', 'postgres://me:hunter2@db/x', `postgres://me:${GONE}@db/x`],
    ['a secret in a query', 'https://x.example/?token=abcdef&n=1', `https://x.example/?token=${GONE}&n=1`],
    ['a card number', 'card 4111 1111 1111 1111, thanks', `card ${GONE}, thanks`],
    ['a card number without spaces', '5555555555554444', GONE],
  ])('%s', (_, text, expected) => expect(redact({ text })).toEqual({ text: expected }));
  it('a card number that is a number', () => expect(redact([4111111111111111])).toEqual([GONE]));
  it.each([
    '4111 1111 1111 1112',
    '1700000000000',
    'order 12345678901234567890',
    'basic plan',
    'sk-short',
    '2026-03-01T10:00:00.000Z',
  ])('and not "%s"', (text) => expect(redact(text)).toBe(text));
});

describe('redacting', () => {
  it('leaves what is no plain JSON as it is', () => {
    const error = new Error('x');
    expect(redact({ error, none: undefined })).toEqual({ error, none: undefined });
  });
  it('twice is as once, and keeps every key', () =>
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = redact(value);
        expect(redact(once)).toEqual(once);
        if (typeof value === 'object' && value !== null && !Array.isArray(value))
          expect(Object.keys(once as object)).toEqual(Object.keys(value));
      }),
    ));
  it.each([
    'eyJaaaaa-',
    'eyJaaaaa.',
    '4 ',
    '4111-',
    'a://',
    '-----BEGIN PRIVATE KEY-----',
    'bearer ',
    'token=',
    'sk-aaaa ',
    '[[',
  ])('takes a megabyte of "%s" in little time', (piece) => {
    const began = Date.now();
    redact(piece.repeat(1_000_000 / piece.length));
    expect(Date.now() - began).toBeLessThan(3_000);
  });
});
