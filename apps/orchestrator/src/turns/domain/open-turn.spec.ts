import { describe, expect, it } from '@jest/globals';
import { openTurn, opening, type NamedTurn } from './open-turn.js';
import { UNKNOWN_TURN } from '#fold/turn';
import { by, callerOf, given, requested, type Told } from './stories-for-spec.js';

const turn: NamedTurn = {
  conversationId: 'conv',
  turnId: 't-1',
  agent: { id: 'billing' },
  toolCalls: [{ toolCallId: 'c0', toolName: 'pay', server: 'bank', args: { amount: 1 } }],
};
const first = turn.toolCalls[0] ?? { toolCallId: '', toolName: '', args: {} };
const open = (change: Partial<NamedTurn> = {}, { facts = [] as readonly Told[], token = {} } = {}) =>
  given(...facts).when(opening, { ...turn, ...change }, by(0, token));

/** The fact that the log has once this turn was opened. */
function opened(change: Partial<NamedTurn> = {}): Told {
  const answer = openTurn({ ...turn, ...change }, { turn: UNKNOWN_TURN }, { caller: callerOf() });
  if (answer.kind !== 'accept' || answer.event.type !== 'ToolApprovalRequested') throw new Error('A turn is opened');
  return requested(answer.event.data);
}

describe('a turn is opened', () => {
  it('whole, with what was left out filled in', async () =>
    (await open()).thenRecorded('ToolApprovalRequested', {
      conversationId: 'conv',
      release: 'all',
      pool: 'default',
      tokenId: callerOf().tokenId,
      toolCalls: [{ toolCallId: 'c0', argsDigest: expect.stringMatching(/^sha256:/) }],
    }));
  it("with the agent's owner, as the token says", async () =>
    (await open({}, { token: { owner: 'bob' } })).thenRecorded('ToolApprovalRequested', { owner: 'bob' }));
  it('with a deadline of thirty days at most', async () =>
    (await open({ expiresInSeconds: 9e8 })).thenRecorded('ToolApprovalRequested', { expiresInSeconds: 2_592_000 }));
  it('in the place of an earlier one of its conversation', async () =>
    (await open({ turnId: 't-2', supersedes: 't-1' }, { facts: [opened()] })).thenRecorded('ToolApprovalRequested', {
      supersedes: 't-1',
    }));
});

describe('a turn in the place of another', () => {
  const place = { turnId: 't-2', supersedes: 't-1', agent: { id: 'other' }, pool: 'theirs' };
  it.each([
    ['agent', { agent: 'other' }],
    ['pools', { pools: ['theirs'] }],
  ])('is refused to whoever may not cancel that one: its %s', async (_, token) =>
    (await open(place, { facts: [opened()], token })).thenRefused('forbidden'),
  );
});

describe('a turn that is there', () => {
  it('is the same when it is opened again', async () => (await open({}, { facts: [opened()] })).thenNothing());
  it('is the same with what was left out said', async () =>
    (await open({ release: 'all', pool: 'default' }, { facts: [opened()] })).thenNothing());
  it('is the same for a restarted worker: the holder does not count', async () =>
    (
      await open(
        { holder: { workerId: 'w-2', graceSeconds: 1 } },
        { facts: [opened({ holder: { workerId: 'w-1', graceSeconds: 9 } })] },
      )
    ).thenNothing());
  it.each([
    ['arguments', { toolCalls: [{ ...first, args: { amount: 2 } }] }],
    ['release', { release: 'each' as const }],
    ['pool', { pool: 'other' }],
    ['agent', { agent: { id: 'other' } }],
    ['context', { context: {} }],
    ['deadline', { expiresInSeconds: 5 }],
  ])('is in conflict with one of another %s', async (_, change) =>
    (await open(change, { facts: [opened()] })).thenRefused('conflict'),
  );
});

describe('a turn is not opened', () => {
  it('for an agent that the token does not speak for', async () =>
    (await open({}, { token: { agent: 'other' } })).thenRefused('forbidden'));
  it('in a pool that the token may not use', async () =>
    (await open({}, { token: { pools: ['other'] } })).thenRefused('forbidden'));
  it('on a server that the token does not reach', async () =>
    (await open({}, { token: { servers: ['mail'] } })).thenRefused('forbidden'));
  it('without a server by a token that names some', async () =>
    (
      await open({ toolCalls: [{ toolCallId: 'c', toolName: 't', args: {} }] }, { token: { servers: ['mail'] } })
    ).thenRefused('forbidden'));
  it('with one id for two calls', async () =>
    (await open({ toolCalls: [first, first] })).thenRefused('invalid-input', {
      errors: [{ path: 'toolCalls[1].toolCallId', message: expect.any(String) }],
    }));
  it('with a schema that is none', async () =>
    (await open({ toolCalls: [{ ...first, inputSchema: { type: 'nonsense' } }] })).thenRefused('invalid-input', {
      errors: [{ path: 'toolCalls[0].inputSchema', message: expect.any(String) }],
    }));
  it('in the place of itself', async () =>
    (await open({ supersedes: 't-1' })).thenRefused('invalid-input', {
      errors: [{ path: 'supersedes', message: 'is this turn itself' }],
    }));
  it('in the place of one that is not there', async () =>
    (await open({ supersedes: 'nobody' })).thenRefused('invalid-input'));
  it('over 1 MiB', async () => (await open({ context: { text: 'x'.repeat(1_048_576) } })).thenRefused('too-large'));
});
