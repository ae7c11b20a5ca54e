import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { HoldpointEvent } from '#contracts/events';
import type { GrantIssued } from '#contracts/grants/events';
import { grantIdOf, instant, type ApprovalId, type GrantId } from '#contracts/ids';
import { wipe } from '#read-model/wipe';
import {
  precedentsReader,
  type LikeCall,
} from '../../apps/approval-service/src/projections/precedents/precedents.query.js';
import { projectAll, testDatabase, type TestDatabase } from './database.js';
import { callOf, decided, opened, requested, TENANT, TestLog, type Told } from './facts.js';

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase()));
afterAll(() => database.drop());
beforeEach(async () => {
  const client = await database.pool.connect();
  await wipe(client).finally(() => client.release());
});

const [ONE, TWO] = [grantIdOf(TENANT, '1'), grantIdOf(TENANT, '2')];
const by = (event: HoldpointEvent): Told => ({ event, when: 1, tenant: TENANT, by: 'ada@example.com', kind: 'person' });
const issued = (grantId: GrantId, more: Partial<GrantIssued> & { readonly lastsMs?: number } = {}): Told => {
  const { lastsMs = 3_600_000, ...rest } = more;
  const bounds = { expiresAt: instant(Date.now() + lastsMs), maxUses: 1, groups: [] };
  const scope = { tool: 'send_email', server: 'gmail' };
  return by({ type: 'GrantIssued', data: { grantId, scope, schemaDigest: digestOf({}), ...bounds, ...rest } });
};
const redeemed = (grantId: GrantId, approvalId: ApprovalId): Told =>
  by({ type: 'GrantRedeemed', data: { grantId, n: 1, approvalId } });
const over = (grantId: GrantId): Told => by({ type: 'GrantEnded', data: { grantId } });

/** What is found of a call at this place in the log, once these are told. */
async function after(...facts: readonly Told[]) {
  await projectAll(new TestLog().tell(opened, ...facts), database.pool);
  const call = { toolName: 'send_email', server: 'gmail', argsDigest: digestOf({ to: 'x@example.com' }) };
  const who = { tenant: TENANT, conversationId: 'conv-1', agent: 'billing-agent' };
  const read = precedentsReader(database.pool);
  return (seq: number, more: Partial<LikeCall> = {}) => read({ ...who, ...call, seq, ...more });
}

describe('the grants that may be for a call', () => {
  it('are those given before it, the oldest first', async () => {
    const found = await after(issued(ONE), issued(TWO), requested('t'));
    expect(await found(4)).toEqual({ grants: [ONE, TWO] });
    expect(await found(3)).toEqual({ grants: [ONE] });
  });
  it('are not known before the call is', async () => expect(await (await after(issued(ONE)))(3)).toBeUndefined());
  it('are none that were ended, used up or over before it', async () => {
    const expired = issued(grantIdOf(TENANT, '3'), { lastsMs: -1 });
    const found = await after(issued(ONE), issued(TWO), expired, over(ONE), redeemed(TWO, callOf('s')), requested('t'));
    expect(await found(7)).toEqual({ grants: [] });
  });
  it('are those that were ended or used up after it, too', async () => {
    const found = await after(issued(ONE), issued(TWO), requested('t'), redeemed(TWO, callOf('t')), over(ONE));
    expect(await found(4)).toEqual({ grants: [ONE, TWO] });
  });
  it('are of its tool, its server, its agent and its conversation', async () => {
    const scope = { tool: 'send_email', server: 'gmail', agent: 'billing-agent', conversationId: 'conv-1' };
    const found = await after(issued(ONE, { scope }), requested('t'));
    expect(await found(3)).toEqual({ grants: [ONE] });
    const others: Partial<LikeCall>[] = [
      { toolName: 'pay' },
      { server: undefined },
      { server: 'other' },
      { agent: 'other' },
      { conversationId: 'conv-2' },
    ];
    for (const other of others) expect(await found(3, other)).toEqual({ grants: [] });
  });
});

describe('the denial of the same call', () => {
  it('is the newest from before it', async () => {
    const found = await after(
      requested('a'),
      requested('b'),
      decided('a', 'denied'),
      decided('b', 'denied'),
      requested('t'),
    );
    expect(await found(6)).toEqual({ grants: [], denial: callOf('b') });
    expect(await found(5)).toEqual({ grants: [], denial: callOf('a') });
    expect(await found(6, { argsDigest: digestOf({}) })).toEqual({ grants: [] });
    expect(await found(6, { conversationId: 'conv-2' })).toEqual({ grants: [] });
  });
});
