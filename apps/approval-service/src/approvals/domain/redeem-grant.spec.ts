import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { approvalIdOf } from '#contracts/ids';
import { Unavailable } from '#decider/unavailable';
import { MemoryLog } from '#event-log/memory-log';
import { END, GRANT, granted, grantOf, over, redeemed } from './grant-stories-for-spec.js';
import { redeemGrant, redeeming, type Redeemable } from './redeem-grant.js';
import { after, CALL, recordedAt, requested, TENANT, TURN_KEY, type Told } from './stories-for-spec.js';

const OTHER_CALL = approvalIdOf(TURN_KEY, 1);
const take = { grantId: GRANT, approvalId: CALL, requestSeq: 2 };
const nothing = { kind: 'nothing-to-do' };
const after100 = (state: Partial<Redeemable>) =>
  redeemGrant(take, { grant: grantOf(), mine: undefined, ...state }, { now: after(100) });

describe('a use of a grant', () => {
  it('is the next one', () => {
    const slot = (used: number) => after100({ grant: grantOf({ used, maxUses: 9 }) });
    const data = { grantId: GRANT, approvalId: CALL };
    expect(slot(0)).toEqual({ kind: 'accept', event: { type: 'GrantRedeemed', data: { ...data, n: 1 } } });
    expect(slot(8)).toMatchObject({ event: { data: { n: 9 } } });
  });
  it('is taken once for one approval', () =>
    expect(after100({ mine: { grantId: GRANT, n: 1, approvalId: CALL } })).toEqual(nothing));
  it('is none where there is no grant', () => expect(after100({ grant: undefined })).toEqual(nothing));
  it.each([
    ['used up', { used: 2 }],
    ['expired', { expiresAt: after(100) }],
    ['ended', { end: END }],
  ])('is none of one that is %s', (_, more) => expect(after100({ grant: grantOf(more) })).toEqual(nothing));
  it('is never beyond as many as there are', () =>
    fc.assert(
      fc.property(fc.nat(20), fc.integer({ min: 1, max: 20 }), (used, maxUses) => {
        const answer = after100({ grant: grantOf({ used, maxUses }) });
        expect(answer.kind).toBe(used < maxUses ? 'accept' : 'nothing-to-do');
      }),
    ));
});

describe('what is read for it', () => {
  async function read(...facts: readonly Told[]) {
    const log = new MemoryLog();
    for (const fact of facts) await log.append(recordedAt(fact, 0));
    const reads: string[] = [];
    const last = log.last.bind(log);
    const next = (filter: string, from: number) => {
      reads.push(`${from}`);
      return log.next(filter, from);
    };
    return { reads, state: await redeeming.read({ last, next }, TENANT, take) };
  }

  it('is the grant', async () => {
    const { state } = await read(granted(), requested(), over('enough'));
    expect(state).toMatchObject({ grant: { grantId: GRANT, used: 0, end: { reason: 'enough' } }, mine: undefined });
  });
  it('is the use that was taken for the approval before, whatever was taken since', async () => {
    const { state } = await read(granted({ maxUses: 9 }), requested(), redeemed(1), redeemed(2, OTHER_CALL));
    expect(state).toMatchObject({ grant: { used: 2 }, mine: { n: 1, approvalId: CALL } });
  });
  it('is no use for another approval', async () =>
    expect((await read(granted(), requested(), redeemed(1, OTHER_CALL))).state.mine).toBeUndefined());
  it('is not known while a use since the request cannot be read', async () => {
    const log = new MemoryLog();
    for (const fact of [granted({ maxUses: 9 }), requested(), redeemed(1, OTHER_CALL), redeemed(2, OTHER_CALL)])
      await log.append(recordedAt(fact, 0));
    const last: typeof log.last = (filter) =>
      filter.endsWith('.red.1') ? Promise.resolve(undefined) : log.last(filter);
    const reading = redeeming.read({ last, next: log.next.bind(log) }, TENANT, { ...take, requestSeq: 1 });
    await expect(reading).rejects.toThrow(Unavailable);
  });
  it('is none of the uses from before the request', async () =>
    expect((await read(granted(), redeemed(1, OTHER_CALL), requested())).reads).toEqual([]));
});
