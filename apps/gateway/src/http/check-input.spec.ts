import { describe, expect, it } from '@jest/globals';
import { EndGrantBody } from '#contracts/grants/commands';
import { ApprovalsQuery, EventsQuery } from '#contracts/queries';
import { OpenTurn } from '#contracts/turns/commands';
import { TurnQuery } from '#contracts/turns/requests';
import { checkBody, checkPath, checkQuery } from './check-input.js';
import { Refused } from './problem.js';

const refusalOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
  throw new Error('It was not refused');
};
const wrongPaths = (run: () => unknown) => refusalOf(run).errors?.map(({ path }) => path);

describe('ids in a path', () => {
  it.each(['', 'a b', 'a.b', 'ä', '../x', 'x'.repeat(129), 'a\u0000'])('%j is no id at all', (text) => {
    expect(refusalOf(() => checkPath({ conversationId: text })).reason).toBe('invalid-input');
    expect(refusalOf(() => checkPath({ approvalId: text })).reason).toBe('invalid-input');
  });

  it.each([
    ['approvalId', 'ap_nothing'],
    ['approvalId', `tn_${'a'.repeat(26)}`],
    ['leaseId', 'x'],
    ['tokenId', `ap_${'a'.repeat(26)}_0`],
  ])('a %s that is well-formed but never made is not found', (name, text) =>
    expect(refusalOf(() => checkPath({ [name]: text })).reason).toBe('not-found'),
  );

  it('passes what may exist', () => {
    checkPath({ approvalId: `ap_${'a'.repeat(26)}_63` });
    checkPath({ leaseId: `tn_${'a'.repeat(26)}` });
    checkPath({ leaseId: `ap_${'a'.repeat(26)}_0` });
    checkPath({ conversationId: 'conv-42', turnId: 'x'.repeat(128) });
  });
});

describe('a query', () => {
  it('turns whole numbers into numbers', () =>
    expect(checkQuery(TurnQuery, { conversationId: '42', wait: '60' })).toEqual({ conversationId: '42', wait: 60 }));

  it.each(['61', '-1', '1.5', '1e1', ' 1', '', '0x1', '01', '99999999999999999999'])('wait=%s is refused', (wait) =>
    expect(new Set(wrongPaths(() => checkQuery(TurnQuery, { conversationId: 'c', wait })))).toEqual(new Set(['wait'])),
  );

  it.each(['0', '201'])('limit=%s is refused', (limit) =>
    expect(wrongPaths(() => checkQuery(ApprovalsQuery, { limit }))).toEqual(['limit']),
  );

  it('refuses what is not a parameter, what is missing, and what stands twice', () => {
    expect(wrongPaths(() => checkQuery(ApprovalsQuery, { colour: 'red' }))).toEqual(['colour']);
    expect(wrongPaths(() => checkQuery(undefined, { any: '1' }))).toEqual(['any']);
    expect(wrongPaths(() => checkQuery(TurnQuery, {}))).toContain('conversationId');
    expect(wrongPaths(() => checkQuery(EventsQuery, { limit: ['1', '2'] }))).toContain('limit');
    expect(wrongPaths(() => checkQuery(ApprovalsQuery, { status: 'lost' }))).toEqual(['status']);
  });

  it('takes a page of the log to a thousand', () =>
    expect(checkQuery(EventsQuery, { limit: '1000', after: '0' })).toEqual({ limit: 1000, after: 0 }));
});

describe('a body', () => {
  const turn = { conversationId: 'c', agent: { id: 'a' }, toolCalls: [{ toolCallId: '1', toolName: 't', args: {} }] };

  it('is needed where the route has a shape', () =>
    expect(refusalOf(() => checkBody(OpenTurn, undefined))).toMatchObject({
      reason: 'invalid-input',
      errors: [{ path: '' }],
    }));
  it('may be missing where nothing in it is needed', () => {
    expect(checkBody(EndGrantBody, undefined)).toEqual({});
    expect(wrongPaths(() => checkBody(EndGrantBody, null))).toEqual(['']);
  });
  it('is refused with the path of what is wrong', () => {
    expect(wrongPaths(() => checkBody(OpenTurn, { ...turn, toolCalls: [{ ...turn.toolCalls[0], args: [] }] }))).toEqual(
      ['toolCalls[0].args'],
    );
    expect(wrongPaths(() => checkBody(OpenTurn, { ...turn, holder: { workerId: 'w', graceSeconds: 61 } }))).toEqual([
      'holder.graceSeconds',
    ]);
    expect(wrongPaths(() => checkBody(OpenTurn, { ...turn, colour: 1 }))).toEqual(['colour']);
    expect(wrongPaths(() => checkBody(OpenTurn, { ...turn, turnId: null }))).toContain('turnId');
  });
  it('is kept as it came', () => expect(checkBody(OpenTurn, turn)).toEqual(turn));
  it('is not taken where the route has none', () => {
    expect(checkBody(undefined, undefined)).toBeUndefined();
    expect(checkBody(undefined, {})).toBeUndefined();
    expect(refusalOf(() => checkBody(undefined, { a: 1 })).reason).toBe('invalid-input');
    expect(refusalOf(() => checkBody(undefined, 'x')).reason).toBe('invalid-input');
  });
});
