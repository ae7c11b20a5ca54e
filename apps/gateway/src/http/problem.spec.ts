import { BadRequestException, HttpException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { REASONS } from '#contracts/refusals';
import { Unavailable } from '#decider/unavailable';
import { LogFull } from '#event-log/log';
import { sourceOf } from './problem-filter.js';
import { problemOf, PROBLEMS, refused } from './problem.js';

/** Contract section 2, by status. */
const CONTRACT: Readonly<Record<number, readonly string[]>> = {
  400: ['invalid-input'],
  413: ['too-large'],
  415: ['unsupported-media-type'],
  422: ['invalid-edit'],
  429: ['rate-limited'],
  401: ['unauthenticated'],
  403: ['forbidden', 'self-approval'],
  404: ['not-found'],
  409: [
    'conflict',
    'superseded',
    'late',
    'taken',
    'already-used',
    'arguments-changed',
    'revoked',
    'lapsed',
    'frozen',
    'stale-attempt',
    'not-ready',
    'in-doubt',
    'turn-ended',
  ],
  503: ['unavailable'],
};

describe('a problem document', () => {
  it('has the status that the contract promises for its name', () => {
    const promised = Object.entries(CONTRACT).flatMap(([status, names]) => names.map((name) => [name, Number(status)]));
    expect(Object.fromEntries(REASONS.map((name) => [name, PROBLEMS[name].status]))).toEqual(
      Object.fromEntries(promised),
    );
  });

  it('carries what the refusal carries', () => {
    const winner = { decision: 'denied', by: 'ada@example.com', at: '2026-01-01T00:00:00.000Z', seq: 7 } as never;
    expect(problemOf(refused('superseded', 'Ada denied it', { winner }).refusal)).toEqual({
      type: 'urn:holdpoint:problem:superseded',
      title: PROBLEMS.superseded.title,
      status: 409,
      detail: 'Ada denied it',
      winner,
    });
  });
});

describe('an exception', () => {
  it('that is a refusal is answered as it is', () =>
    expect(sourceOf(refused('late', 'Too late'), 'POST')).toEqual({ reason: 'late', detail: 'Too late' }));

  it('of the log leaves open whether a write happened, and never speaks of a write that was a read', () => {
    expect(sourceOf(new Unavailable('no answer'), 'POST')).toMatchObject({
      reason: 'unavailable',
      recorded: 'unknown',
    });
    expect(sourceOf(new LogFull('full'), 'DELETE')).toMatchObject({ reason: 'unavailable', recorded: 'unknown' });
    expect(sourceOf(new Unavailable('no answer'), 'GET')).toEqual({ reason: 'unavailable', detail: 'no answer' });
  });

  it.each([
    [new BadRequestException('Unexpected token'), 'invalid-input'],
    [new HttpException('x', 413), 'too-large'],
    [new HttpException('x', 415), 'unsupported-media-type'],
    [new HttpException('x', 414), 'invalid-input'],
    [{ statusCode: 431 }, 'headers-too-large'],
    [{ statusCode: 408 }, 'timeout'],
  ])('of HTTP itself (%p) is %s', (error, reason) => expect(sourceOf(error, 'POST').reason).toBe(reason));

  it.each([new Error('the secret is 42'), new HttpException('x', 418), 'text', null, undefined])(
    'that nobody foresaw (%p) tells nothing',
    (error) => {
      const source = sourceOf(error, 'POST');
      expect(source.reason).toBe('internal');
      expect(source.detail).not.toContain('42');
    },
  );
});
