import { describe, expect, it } from '@jest/globals';
import { Refused } from '../http/problem.js';
import { credentialsOf } from './credentials.js';
import { RateLimit } from './rate-limit.js';

const reasonOf = (headers: Record<string, string>) => {
  try {
    credentialsOf(headers);
  } catch (error) {
    if (error instanceof Refused) return error.refusal.reason;
    throw error;
  }
  return undefined;
};
const authorization = 'Bearer hp_x_y';

describe('the headers of a request', () => {
  it.each([
    {},
    { authorization: '' },
    { authorization: 'Basic x' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer a b' },
  ])('without a bearer token say nobody: %j', (headers) =>
    expect(reasonOf(headers as Record<string, string>)).toBe('unauthenticated'),
  );

  it.each([
    { 'holdpoint-tenant': '_sys' },
    { 'holdpoint-tenant': 'a.b' },
    { 'holdpoint-tenant': '*' },
    { 'idempotency-key': '' },
    { 'idempotency-key': 'a b' },
    { 'idempotency-key': 'é' },
    { 'idempotency-key': 'x'.repeat(256) },
  ])('are refused where one is malformed: %j', (headers) =>
    expect(reasonOf({ authorization, ...(headers as Record<string, string>) })).toBe('invalid-input'),
  );

  it('are passed on', () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const headers = { authorization: 'bearer  t', 'holdpoint-tenant': 'acme', 'idempotency-key': 'k~1', traceparent };
    expect(credentialsOf(headers)).toEqual({ token: 't', tenant: 'acme', idempotencyKey: 'k~1', traceparent });
  });

  it('with a trace that is none are good without it', () =>
    expect(credentialsOf({ authorization, traceparent: 'x' })).toEqual({ token: 'hp_x_y' }));
});

describe('the rate limit', () => {
  it('lets as many through as there are in a second, and says how long to wait', () => {
    let now = 0;
    const limit = new RateLimit(2, () => now);
    expect([limit.take('a'), limit.take('a'), limit.take('a'), limit.take('b')]).toEqual([0, 0, 1, 0]);
    now = 500;
    expect([limit.take('a'), limit.take('a')]).toEqual([0, 1]);
    now = 60_000;
    expect([limit.take('a'), limit.take('a'), limit.take('a')]).toEqual([0, 0, 1]);
  });
  it('of 0 is none', () => expect(new RateLimit(0).take('a')).toBe(0));
});
