import { describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { HoldpointEvent } from '#contracts/events';
import type { GrantBody } from '#contracts/grants/commands';
import type { GrantIssued } from '#contracts/grants/events';
import { grantIdOf, grantIdOfKey, type ApprovalId } from '#contracts/ids';
import { MemoryLog } from '#event-log/memory-log';
import { schemaDigestOf } from '#policy/grants';
import { PoliciesInForce } from '#policy/in-force';
import { at, call, decided, factOf, requested, revoked, TENANT, worker } from '../continuations/stories-for-spec.js';
import { Refused } from '../http/problem.js';
import type { ReadModel } from '../lists/read-model.js';
import { Changes } from '../live/changes.js';
import { Lists } from '../operations/lists.js';
import { ReadTurns } from '../turns/read-turns.js';
import { Grants } from './grants.js';

const GRANT = grantIdOf(TENANT, 'test');
const DIGEST = schemaDigestOf({});
const scope = { tool: 'send_email', server: 'gmail' };
const ada = worker({ subject: 'ada', roles: ['approver'] });

const issued = (more: Partial<GrantIssued> = {}): HoldpointEvent => ({
  type: 'GrantIssued',
  data: { grantId: GRANT, scope, schemaDigest: DIGEST, expiresAt: at(60), maxUses: 500, groups: [], ...more },
});
const redeemed = (n: number, approvalId: ApprovalId = call(n - 1)): HoldpointEvent => ({
  type: 'GrantRedeemed',
  data: { grantId: GRANT, n, approvalId },
});
const ended: HoldpointEvent = { type: 'GrantEnded', data: { grantId: GRANT, reason: 'enough' } };
const byGrant = (index: number, n = index + 1): HoldpointEvent => {
  const decision = decided(index);
  if (decision.type !== 'ToolApprovalDecided') return decision;
  return { ...decision, data: { ...decision.data, grant: { grantId: GRANT, n, by: 'ada' } } };
};

/** A log that was told this, and a read model that has these calls. */
async function office(newest: readonly ApprovalId[], ...events: readonly HoldpointEvent[]) {
  const log = new MemoryLog();
  for (const event of events) await log.append(factOf(event));
  const failed = (error: unknown) => {
    throw error;
  };
  const turns = new ReadTurns(log, () => Date.parse(at(10)), new Changes(log, failed));
  const rows = newest.map((id) => ({ id }));
  const asked: (readonly unknown[])[] = [];
  const waited: string[] = [];
  const readModel = {
    waitFor: async (seq: number) => {
      await new Promise(setImmediate);
      waited.push(`waited for ${seq}`);
    },
    query: (_: string, values: readonly unknown[]) => {
      asked.push(values);
      waited.push('asked');
      return Promise.resolve(rows.slice(0, Number(values.at(-1))));
    },
  };
  const lists = new Lists(readModel as unknown as ReadModel, turns);
  return { asked, waited, grants: new Grants(turns, new PoliciesInForce(log), lists) };
}
const refusalOf = (asked: Promise<unknown>) =>
  asked.then(
    () => undefined,
    (error: unknown) => (error instanceof Refused ? error.refusal : error),
  );

describe('one grant', () => {
  const read = async (...events: readonly HoldpointEvent[]) => (await office([], ...events)).grants.read(ada, GRANT);

  it('is shown as the log has it now', async () =>
    expect(await read(issued())).toEqual({
      grantId: GRANT,
      scope,
      schemaDigest: DIGEST,
      expiresAt: at(60),
      maxUses: 500,
      groups: [],
      used: 0,
      seq: 1,
      status: 'active',
      issuedBy: 'ada@example.com',
      issuedAt: at(0),
      end: null,
      redemptions: [],
    }));
  it('is shown with its end', async () =>
    expect(await read(issued(), ended)).toMatchObject({ status: 'ended', end: { reason: 'enough', seq: 2 }, seq: 2 }));
  it('is expired by now, or used up', async () => {
    expect(await read(issued({ expiresAt: at(10) }))).toMatchObject({ status: 'expired' });
    expect(await read(issued({ maxUses: 1 }), redeemed(1))).toMatchObject({ status: 'used-up', used: 1 });
  });
  it('is none where the log has none', async () => {
    const { grants } = await office([]);
    expect(await refusalOf(grants.read(ada, GRANT))).toMatchObject({ reason: 'not-found' });
  });
  it('is none of another tenant', async () => {
    const { grants } = await office([], issued());
    const asked = grants.read({ ...ada, tenant: 'other' as typeof TENANT }, GRANT);
    expect(await refusalOf(asked)).toMatchObject({ reason: 'not-found' });
  });
  it('tells what became of each use, the newest first', async () => {
    const { redemptions } = await read(
      issued(),
      requested({ calls: 4 }),
      ...[1, 2, 3, 4].map((n) => redeemed(n)),
      byGrant(0),
      byGrant(1),
      revoked(1),
      decided(2),
    );
    expect(redemptions).toEqual([
      { n: 4, approvalId: call(3), at: at(0), state: 'pending' },
      { n: 3, approvalId: call(2), at: at(0), state: 'void' },
      { n: 2, approvalId: call(1), at: at(0), state: 'revoked' },
      { n: 1, approvalId: call(0), at: at(0), state: 'approved' },
    ]);
  });
  it('has a void use where the decision names another of its uses, or the log has no such call', async () => {
    const { redemptions } = await read(issued(), requested(), redeemed(1), redeemed(2, call(0)), byGrant(0, 2));
    expect(redemptions.map(({ n, state }) => [n, state])).toEqual([
      [2, 'approved'],
      [1, 'void'],
    ]);
    expect((await read(issued(), redeemed(1))).redemptions).toMatchObject([{ state: 'void' }]);
  });
  it('shows a hundred uses at most', async () => {
    const { redemptions, ...view } = await read(
      issued(),
      ...Array.from({ length: 101 }, (_, index) => redeemed(index + 1, call(0))),
    );
    expect(view).toMatchObject({ used: 101 });
    expect([redemptions.length, redemptions[0]?.n, redemptions.at(-1)?.n]).toEqual([100, 101, 2]);
  });
});

describe('what a grant is bound to', () => {
  let waits: readonly string[] = [];
  const digestFor = async (body: GrantBody, newest: readonly ApprovalId[]) => {
    const { grants, asked, waited } = await office(newest, requested());
    waits = waited;
    return { digest: (await grants.terms(ada, body)).schemaDigest, asked };
  };

  it('stays as it was where the same is asked for again under the same key', async () => {
    const grantId = grantIdOfKey(TENANT, 'ada', 'key-1');
    const before = issued({ grantId, schemaDigest: digestOf('before') });
    const { grants } = await office([call(0)], requested(), before);
    const digestUnder = async (key: string) => (await grants.terms(ada, { scope }, key)).schemaDigest;
    expect([await digestUnder('key-1'), await digestUnder('key-2')]).toEqual([digestOf('before'), DIGEST]);
  });
  it('is not looked for where the condition cannot be asked', async () => {
    const { grants } = await office([]);
    expect(await refusalOf(grants.terms(ada, { scope: { ...scope, when: 'args.to +' } }))).toMatchObject({
      errors: [{ path: 'scope.when' }],
    });
  });

  it('is what is said', async () =>
    expect(await digestFor({ scope, schemaDigest: digestOf(1) }, [])).toEqual({ digest: digestOf(1), asked: [] }));
  it('is the tool as its newest call had it, where nothing is said', async () =>
    expect(await digestFor({ scope }, [call(0)])).toEqual({
      digest: DIGEST,
      asked: [['send_email', 'gmail', TENANT, 1]],
    }));
  it('is looked for once the read model has come as far as the log', async () => {
    await digestFor({ scope }, [call(0)]);
    expect(waits).toEqual(['waited for 1', 'asked']);
  });
  it('must be said where no call is on record, or the log has none', async () => {
    for (const newest of [[], [call(3)]])
      expect(await refusalOf(digestFor({ scope }, newest))).toMatchObject({
        reason: 'invalid-input',
        errors: [{ path: 'schemaDigest' }],
      });
  });
});

describe('a preview', () => {
  const preview = async (body: GrantBody, ...events: readonly HoldpointEvent[]) => {
    const { grants } = await office([call(2), call(1), call(0)], ...events, requested({ calls: 3 }));
    return grants.preview(ada, body);
  };
  const ids = async (body: GrantBody, ...events: readonly HoldpointEvent[]) =>
    (await preview(body, ...events)).items.map(({ approvalId }) => approvalId);

  it('says which of the newest calls it would have approved', async () =>
    expect(await preview({ scope: { ...scope, when: 'args.to == 1.0' } })).toEqual({
      of: 3,
      matched: 1,
      items: [{ approvalId: call(1), conversationId: 'conv-1', agent: 'billing-agent', requestedAt: at(0) }],
    }));
  it('is by the policy of the place of each', async () => {
    const rules = [{ id: 'r', tools: ['*'], when: 'args.to == 1.0', then: 'deny' as const }];
    const policy: HoldpointEvent = {
      type: 'PolicyPublished',
      data: { version: 1, hash: digestOf({ rules }), rules, default: { approvers: { count: 1 } } },
    };
    expect(await ids({ scope }, policy)).toEqual([call(2), call(0)]);
  });
  it('is of what whoever asks could have approved alone', async () => {
    const { grants } = await office([call(0)], requested());
    const requester = worker({ subject: 'Ada@example.com', roles: ['approver'] });
    expect(await grants.preview(requester, { scope })).toMatchObject({ of: 1, matched: 0 });
  });
  it('leaves out what is of another tool, or is not in the log', async () => {
    expect(await ids({ scope: { tool: 'pay' }, schemaDigest: DIGEST })).toEqual([]);
    const { grants } = await office([call(0)]);
    expect(await grants.preview(ada, { scope, schemaDigest: DIGEST })).toEqual({ of: 1, matched: 0, items: [] });
  });
  it('is of the tool as it is said to be', async () =>
    expect(await ids({ scope, schemaDigest: digestOf('other') })).toEqual([]));
  it('is refused for a condition that cannot be asked', async () =>
    expect(await refusalOf(preview({ scope: { ...scope, when: 'args.to +' } }))).toMatchObject({
      reason: 'invalid-input',
      errors: [{ path: 'scope.when' }],
    }));
});
