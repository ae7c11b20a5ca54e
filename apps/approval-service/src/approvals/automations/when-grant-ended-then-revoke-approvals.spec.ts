import { describe, expect, it } from '@jest/globals';
import type { HoldpointEvent } from '#contracts/events';
import { Unavailable } from '#decider/unavailable';
import { frozen, GRANT, granted, over, redeemed } from '../domain/grant-stories-for-spec.js';
import { decided, DIGEST, recordedAt, started, WORKER_TOKEN, type Told } from '../domain/stories-for-spec.js';
import { about, callIn, Office } from './precedents-for-spec.js';
import { whenGrantEndedThenRevokeApprovals } from './when-grant-ended-then-revoke-approvals.js';

const approvedIn = (turnId: string, n: number): Told =>
  about(decided('approved', GRANT, { grant: { grantId: GRANT, n, by: 'ada' } }, 'grant'), callIn(turnId));

const usedIn = (turnId: string): HoldpointEvent => {
  const by = { workerId: 'w-1', tokenId: WORKER_TOKEN, attempt: 1, argsDigest: DIGEST };
  return { type: 'ToolExecutionStarted', data: { ...by, approvalId: callIn(turnId) } };
};

/** A grant of which these uses were taken, and which was ended. */
async function ended(uses: readonly string[], ...facts: readonly Told[]) {
  const office = new Office();
  await office.tell(granted({ maxUses: 100 }));
  for (const turnId of uses) await office.ask(turnId);
  await office.tell(
    ...uses.map((turnId, index) => redeemed(index + 1, callIn(turnId))),
    ...facts,
    over('enough', 'olga'),
  );
  const [end] = await office.of('GrantEnded');
  if (!end) throw new Error('The grant was not ended');
  const { react } = whenGrantEndedThenRevokeApprovals(office.services);
  const revoked = async () => (await office.of('ToolApprovalRevoked')).map(({ event: { data } }) => data.approvalId);
  return { office, end, react: () => react(end), revoked };
}

describe('when a grant has ended', () => {
  it('what it approved is taken back, for its reason and in the name of who ended it', async () => {
    const { office, end, react } = await ended(['t-1'], approvedIn('t-1', 1));
    await react();
    expect(await office.of('ToolApprovalRevoked')).toMatchObject([
      {
        actor: { kind: 'person', id: 'olga', via: 'reaction:grant-ended' },
        causationId: end.eventId,
        event: { data: { approvalId: callIn('t-1'), reason: 'enough', turnEnded: false } },
      },
    ]);
  });
  it('everything that it approved is, however much it was', async () => {
    const turns = Array.from({ length: 40 }, (_, n) => `t-${n}`);
    const { react, revoked } = await ended(turns, ...turns.map((turnId, index) => approvedIn(turnId, index + 1)));
    await react();
    expect((await revoked()).sort()).toEqual(turns.map((turnId) => callIn(turnId)).sort());
  });
  it('the newest goes first, and what was used is not looked at further', async () => {
    const turns = Array.from({ length: 20 }, (_, n) => `t-${n}`);
    const used = { ...started, event: usedIn('t-7') };
    const { office, react, revoked } = await ended(turns, ...turns.map((id, at) => approvedIn(id, at + 1)), used);
    const looked: string[] = [];
    const last = office.services.log.last.bind(office.log);
    office.services.log.last = (filter) => {
      looked.push(filter);
      return last(filter);
    };
    await react();
    expect(await revoked()).toHaveLength(19);
    expect(looked.filter((filter) => filter.includes(callIn('t-7')))).toHaveLength(1);
    const order = looked.filter((filter) => filter.endsWith('.use'));
    expect([order[0], order.at(-1)]).toEqual([
      expect.stringContaining(callIn('t-19')),
      expect.stringContaining(callIn('t-0')),
    ]);
  });
  it('it is taken back once, however often and how many are told at once', async () => {
    const { react, revoked } = await ended(['t-1', 't-2'], approvedIn('t-1', 1), approvedIn('t-2', 2));
    await Promise.all([react(), react()]);
    await react();
    expect((await revoked()).sort()).toEqual([callIn('t-1'), callIn('t-2')].sort());
  });
  it('the rest is, where whoever began died', async () => {
    const { office, react, revoked } = await ended(['t-1', 't-2'], approvedIn('t-1', 1), approvedIn('t-2', 2));
    await office.tell({
      event: {
        type: 'ToolApprovalRevoked',
        data: { approvalId: callIn('t-1'), reason: 'enough', turnEnded: false },
      },
      by: 'olga',
      kind: 'person',
      at: over().at,
    });
    await react();
    expect((await revoked()).sort()).toEqual([callIn('t-1'), callIn('t-2')].sort());
  });
  it('what was used is not', async () => {
    const { react, revoked } = await ended(['t-1'], approvedIn('t-1', 1), started);
    await react();
    expect(await revoked()).toEqual([]);
  });
  it('nor is what a person decided, or nobody did', async () => {
    const { react, revoked } = await ended(['t-1', 't-2'], about(decided('approved', 'bob'), callIn('t-1')));
    await react();
    expect(await revoked()).toEqual([]);
  });
  it('nor is anything of another event', async () => {
    const { office, revoked } = await ended(['t-1'], approvedIn('t-1', 1));
    await whenGrantEndedThenRevokeApprovals(office.services).react(recordedAt(frozen(), 9));
    expect(await revoked()).toEqual([]);
  });
  it('it waits for a log that does not show the end yet', async () => {
    const { end } = await ended([]);
    const behind = new Office();
    await behind.tell(granted());
    await expect(whenGrantEndedThenRevokeApprovals(behind.services).react(end)).rejects.toThrow(Unavailable);
  });
  it('it waits for a log that does not show a use yet', async () => {
    const { office, react } = await ended(['t-1'], approvedIn('t-1', 1));
    const last = office.services.log.last.bind(office.log);
    office.services.log.last = (filter) => (filter.endsWith('.red.1') ? Promise.resolve(undefined) : last(filter));
    await expect(react()).rejects.toThrow(Unavailable);
  });
});
