import { describe, expect, it } from '@jest/globals';
import { parse } from './parse.js';
import { OpenTurn } from './turns/commands.js';

const call = { toolCallId: 'c1', toolName: 'pay', args: {} };
const turn = { conversationId: 'conv', agent: { id: 'billing' }, toolCalls: [call] };
const errorsOf = (more: object) => {
  const parsed = parse(OpenTurn, { ...turn, ...more });
  return parsed.ok ? [] : parsed.errors;
};

describe('a request', () => {
  it('that is good is taken', () => expect(errorsOf({})).toEqual([]));
  it('is told which field it may not have', () =>
    expect(errorsOf({ extra: 1 })).toEqual([{ path: 'extra', message: 'is not a field of this request' }]));
  it('is told what is wrong deep in it', () =>
    expect(errorsOf({ toolCalls: [call, { ...call, toolName: 7 }] })).toContainEqual(
      expect.objectContaining({ path: 'toolCalls[1].toolName' }),
    ));
  it.each([[[[]]], [[[call]]]])('has no list where an object belongs', (toolCalls) =>
    expect(errorsOf({ toolCalls })).toContainEqual({ path: 'toolCalls[0]', message: 'must be a JSON object' }),
  );
});
