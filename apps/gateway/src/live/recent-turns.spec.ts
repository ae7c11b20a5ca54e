import { describe, expect, it } from '@jest/globals';
import type { HoldpointEvent } from '#contracts/events';
import { encodeFact } from '#event-log/codec';
import type { RawFact } from '#event-log/log';
import { readWholeTurn } from '#fold/read';
import {
  at,
  decided,
  ended,
  factOf,
  logOf,
  requested,
  resumed,
  started,
  succeeded,
  TENANT,
  TURN_KEY,
} from '../continuations/stories-for-spec.js';
import { RecentTurns } from './recent-turns.js';

const rawOf = (event: HoldpointEvent, seq: number): RawFact => {
  const fact = factOf(event);
  return { seq, subject: fact.subject, storedAt: at(0), ...encodeFact(fact, 'test') };
};
const heard = (...events: readonly HoldpointEvent[]) => {
  const recent = new RecentTurns();
  events.forEach((event, index) => recent.hear(rawOf(event, index + 1)));
  return recent;
};
const story = [requested({ calls: 2 }), decided(0), decided(1, 'denied'), resumed(), started(0), succeeded(0), ended()];

describe('a turn that was heard from its beginning', () => {
  it.each(story.map((_, index) => index + 1))('is after %d facts what the log says it is', async (count) => {
    const events = story.slice(0, count);
    const log = await logOf(...events);
    expect(heard(...events).of(TENANT, TURN_KEY)).toEqual(await readWholeTurn(log.events, TENANT, TURN_KEY));
  });

  it('goes on after it was looked at', () => {
    const recent = heard(requested());
    expect(recent.of(TENANT, TURN_KEY)?.approvals[0]?.decision).toBeUndefined();
    recent.hear(rawOf(decided(0), 2));
    expect(recent.of(TENANT, TURN_KEY)?.approvals[0]?.decision?.is).toBe('approved');
  });
});

describe('a turn is not known', () => {
  it('that began before', () => expect(heard(decided(0)).of(TENANT, TURN_KEY)).toBeUndefined());
  it('after the connection was lost', () => {
    const recent = heard(requested(), decided(0));
    recent.forget();
    expect(recent.of(TENANT, TURN_KEY)).toBeUndefined();
  });
  it('when it was put out by later ones', () => {
    const recent = heard(requested());
    const { subject, ...raw } = rawOf(requested(), 2);
    const data = new Uint8Array(1_000_000);
    for (const letter of 'abcdefghijkl')
      recent.hear({ ...raw, subject: subject.replace(/.{3}\.req$/, `aa${letter}.req`), data });
    expect(recent.of(TENANT, TURN_KEY)).toBeUndefined();
  });
});
