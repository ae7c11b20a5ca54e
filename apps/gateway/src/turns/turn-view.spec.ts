import { describe, expect, it } from '@jest/globals';
import type { HoldpointEvent } from '#contracts/events';
import { at, decided, ended, logOf, requested, resumed, worker } from '../continuations/stories-for-spec.js';
import { Changes } from '../live/changes.js';
import { ReadTurns } from './read-turns.js';
import { turnView } from './turn-view.js';

const viewOf = async (...events: readonly HoldpointEvent[]) => {
  const { events: log } = await logOf(...events);
  const changes = new Changes(log, (error) => {
    throw error;
  });
  const turns = new ReadTurns(log, () => Date.parse(at(10)), changes);
  return turnView(await turns.named(worker(), 'conv-1', 't-1'), turns.now());
};
const two = requested({ calls: 2 });

describe('a turn', () => {
  it('has no results while a call is undecided', async () => {
    const view = await viewOf(two, decided(1));
    expect(view).toMatchObject({
      status: 'awaiting-approval',
      approvals: [{ status: 'pending' }, { status: 'approved' }],
      seq: 2,
    });
    expect(view).not.toHaveProperty('results');
  });
  it('has its results in the order in which the model asked', async () =>
    expect(await viewOf(two, decided(1), decided(0, 'denied', 'no'))).toMatchObject({
      status: 'ready',
      results: [
        { toolCallId: 'call_0', decision: 'denied', reason: 'no' },
        { toolCallId: 'call_1', decision: 'approved', args: { to: 1 } },
      ],
      seq: 3,
    }));
  it('is continuing under a lease and says how it ended', async () => {
    expect((await viewOf(two, decided(0), decided(1), resumed())).status).toBe('continuing');
    expect((await viewOf(two, ended('cancelled'))).status).toBe('cancelled');
  });
});
