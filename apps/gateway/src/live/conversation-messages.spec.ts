import { describe, expect, it } from '@jest/globals';
import type { HoldpointEvent } from '#contracts/events';
import { subjects } from '#contracts/subjects';
import { readStory } from '#fold/read';
import {
  call,
  decided,
  ended,
  failed,
  givenBack,
  lapsed,
  logOf,
  requested,
  resumed,
  revoked,
  started,
  succeeded,
} from '../continuations/stories-for-spec.js';
import { messagesOf, withoutContents, type Message } from './conversation-messages.js';
import { sseMessages } from './sse.js';
import { ToldTurns } from './told-turns.js';

/** The messages of the last fact of a story, as a stream tells them that reads it long after it happened. */
async function told(...story: readonly HoldpointEvent[]): Promise<readonly Message[]> {
  const { events } = await logOf(...story);
  const facts = await readStory(events, 'hp.v1.>');
  const fact = facts.at(-1);
  const turn = fact && (await new ToldTurns(events).of(fact));
  return fact && turn ? messagesOf(fact, turn) : [];
}
const types = async (...story: readonly HoldpointEvent[]) =>
  (await told(...story)).map(({ type, status }) => (type === 'status' ? `status ${String(status)}` : type));

const two = requested({ calls: 2 });
const each = requested({ calls: 2, release: 'each' });
const common = { turnId: 't-1' };

describe('what a conversation is told', () => {
  it('a request: all calls at once, then one question a call', async () =>
    expect(await told(two)).toEqual([
      {
        type: 'tool_calls',
        ...common,
        calls: [
          { id: 'call_0', name: 'send_email', arguments: '{"to":0}' },
          { id: 'call_1', name: 'send_email', arguments: '{"to":1}' },
        ],
      },
      ...[0, 1].map((index) => ({
        type: 'tool_approval_required',
        ...common,
        approvalId: call(index),
        toolCallId: `call_${index}`,
        toolName: 'send_email',
        arguments: { to: index },
      })),
      { type: 'status', ...common, status: 'awaiting-approval' },
    ]));

  it('a decision: whether it was approved, how, and why', async () =>
    expect(await told(two, decided(1, 'denied', 'too late'))).toEqual([
      {
        type: 'tool_approval_decided',
        ...common,
        approvalId: call(1),
        toolCallId: 'call_1',
        approved: false,
        decision: 'denied',
        reason: 'too late',
      },
    ]));

  it('the last decision: that the turn is ready', async () =>
    expect(await types(two, decided(1), decided(0))).toEqual(['tool_approval_decided', 'status ready']));

  it('an approval taken back or lapsed: decided once more, not approved', async () => {
    const decision = { type: 'tool_approval_decided', approvalId: call(0), toolCallId: 'call_0', approved: false };
    expect(await told(two, decided(0), revoked(0))).toEqual([
      { ...decision, ...common, decision: 'revoked', reason: 'changed my mind' },
    ]);
    expect(await told(two, decided(0), lapsed(0))).toEqual([
      { ...decision, ...common, decision: 'lapsed', reason: null },
    ]);
  });

  it('a tool: that it began, and what it gave', async () => {
    const tool = { ...common, id: 'call_0', name: 'send_email' };
    expect(await told(two, decided(0), started(0))).toEqual([{ type: 'tool_executing', ...tool }]);
    expect(await told(two, succeeded(0))).toEqual([{ type: 'tool_complete', ...tool, result: { sent: 0 } }]);
    expect(await told(two, failed(0))).toEqual([{ type: 'tool_error', ...tool, error: 'no route' }]);
  });

  it('the turn goes on, is given back, is over', async () => {
    expect(await types(two, resumed())).toEqual(['status continuing']);
    expect(await types(two, resumed(), givenBack({ n: 2 }))).toEqual(['status ready']);
    expect(await types(two, ended('cancelled'))).toEqual(['status cancelled', 'complete']);
  });

  it('a call that goes on by itself: the turn does so once all are decided', async () => {
    expect(await types(each, decided(0), resumed({ key: call(0) }))).toEqual([]);
    expect(await types(each, decided(0), decided(1), resumed({ key: call(0) }))).toEqual(['status continuing']);
  });
});

describe('a replay', () => {
  it('says of each fact what was said when it happened', async () => {
    const story = [two, decided(0), decided(1), resumed(), started(0), succeeded(0), ended()];
    const { events } = await logOf(...story);
    const turns = new ToldTurns(events);
    const replayed: Message[] = [];
    for (const fact of await readStory(events, 'hp.v1.>')) {
      const turn = await turns.of(fact);
      if (turn) replayed.push(...messagesOf(fact, turn));
    }
    const live = await Promise.all(story.map((_, index) => told(...story.slice(0, index + 1))));
    expect(replayed).toEqual(live.flat());
  });

  it('of a story told by a process that saw its beginning only, knows the later decisions', async () => {
    const log = await logOf(two, decided(0));
    const turns = new ToldTurns(log.events);
    const first = await log.events.last(subjects.decision('acme' as never, call(0)));
    expect(first && (await turns.of(first))?.decidedAt).toEqual([2, undefined]);
  });
});

describe('on the wire', () => {
  it('the id stands on the last message of a fact', () =>
    expect(sseMessages([{ type: 'a' }, { type: 'b' }], 7)).toBe('data: {"type":"a"}\n\nid: 7\ndata: {"type":"b"}\n\n'));
  it('without contents neither arguments nor results are there', async () => {
    const messages = [...(await told(two)), ...(await told(two, succeeded(0))), ...(await told(two, failed(0)))];
    expect(JSON.stringify(messages.map(withoutContents))).not.toMatch(/arguments|result|no route|"to"/);
  });
});
