import { describe, expect, it } from '@jest/globals';
import type { Tenant } from '#contracts/ids';
import type { EventsQuery } from '#contracts/queries';
import { call, decided, logOf, requested, resumed, started, TENANT } from '../continuations/stories-for-spec.js';
import { eventsPage } from './events-page.js';

const story = [requested({ calls: 2 }), decided(0), decided(1), resumed(), started(0)];
const page = async (query: EventsQuery, tenant: Tenant = TENANT) => {
  const { items, nextCursor } = await eventsPage((await logOf(...story)).events, tenant, query);
  return { seqs: items.map(({ seq }) => seq), nextCursor };
};

describe('the log, page by page', () => {
  it('comes in its order to its present end', async () =>
    expect(await page({})).toEqual({ seqs: [1, 2, 3, 4, 5], nextCursor: null }));
  it('goes on after where it stopped, under either name', async () => {
    expect(await page({ limit: 2 })).toEqual({ seqs: [1, 2], nextCursor: '2' });
    expect(await page({ limit: 2, after: 2 })).toEqual({ seqs: [3, 4], nextCursor: '4' });
    expect(await page({ cursor: 4 })).toEqual({ seqs: [5], nextCursor: null });
  });
  it('can be of one type or one approval', async () => {
    expect((await page({ type: 'ToolApprovalDecided' })).seqs).toEqual([2, 3]);
    expect((await page({ approvalId: call(0) })).seqs).toEqual([2, 5]);
    expect((await page({ approvalId: 'ap_nothing' })).seqs).toEqual([]);
  });
  it('shows nothing of another tenant', async () => expect((await page({}, 'other' as Tenant)).seqs).toEqual([]));
});
