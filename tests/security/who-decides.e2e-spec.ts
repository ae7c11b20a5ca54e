import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Route } from '../../apps/gateway/src/http/route.js';
import { ROUTES, type RouteName } from '../../apps/gateway/src/http/routes.js';
import type { Api, ApiAnswer } from '../support/api.js';
import { openTurn } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

const SEND = { tool: 'send_email', server: 'gmail' };

/**
 * Every way in which a person can decide, or change what was decided: the request, for one approval. A route that approvers
 * may write to and that is neither here nor among the standing ones fails the first test.
 */
const WAYS: Readonly<Partial<Record<RouteName, (who: Api, approvalId: string) => Promise<ApiAnswer>>>> = {
  decide: (who, id) => who.post(`/v1/approvals/${id}/decision`, { decision: 'approve' }),
  withdrawVote: (who, id) => who.delete(`/v1/approvals/${id}/vote`),
  decideMany: (who, id) => who.post('/v1/decisions', { items: [{ approvalId: id, decision: 'approve' }] }),
  revoke: (who, id) => who.post(`/v1/approvals/${id}/revoke`, { reason: 'mine' }),
};

/** Of calls to come: what these allow is judged at each call. */
const STANDING: readonly RouteName[] = ['issueGrant', 'endGrant', 'previewGrant'];

const isWay = (name: string): boolean => {
  const { method, roles }: Route = ROUTES[name as RouteName];
  return method !== 'GET' && roles !== 'open' && roles.includes('approver');
};

describe('who may decide', () => {
  let world: World;
  let agent: Api;
  let requester: Api;
  let outsider: Api;

  beforeAll(async () => {
    world = await World.start({});
    [agent, requester, outsider] = await Promise.all([
      world.agent(),
      world.as('rita@example.com', { roles: ['approver'], groups: ['payments'] }),
      world.as('otto@example.com', { roles: ['approver'], groups: ['others'] }),
    ]);
    const approvers = { count: 1, groups: ['payments'] };
    const policy = { expectedVersion: 0, rules: [], default: { approvers } };
    expect(await world.admin().post('/v1/policies', policy)).toMatchObject({ status: 201 });
  });
  afterAll(() => world.stop());

  const open = async (): Promise<string> =>
    (await openTurn(agent, { agent: { id: 'a', onBehalfOf: 'Rita@example.com' } })).approvalIds[0] ?? '';
  const refusalOf = ({ body }: ApiAnswer): unknown => (body['items']?.[0]?.problem ?? body)['type'];

  it('is asked on every route on which an approver can write', () =>
    expect(Object.keys(ROUTES).filter(isWay).sort()).toEqual([...Object.keys(WAYS), ...STANDING].sort()));

  it.each(Object.keys(WAYS) as RouteName[])(
    '%s: not for whom the agent acts, nor for whom nobody asks',
    async (way) => {
      const id = await open();
      const pay = await world.as('paula@example.com', { roles: ['approver'], groups: ['payments'] });
      if (way === 'revoke') await WAYS.decide?.(pay, id);
      const own = way === 'revoke' ? 'forbidden' : 'self-approval';
      expect(refusalOf((await WAYS[way]?.(requester, id)) ?? fail())).toBe(`urn:holdpoint:problem:${own}`);
      expect(refusalOf((await WAYS[way]?.(outsider, id)) ?? fail())).toBe('urn:holdpoint:problem:forbidden');
      const { body } = await pay.get(`/v1/approvals/${id}`);
      expect(body['status']).toBe(way === 'revoke' ? 'approved' : 'pending');
    },
  );

  it('nor by a grant that they give, or remember, or try to see the effect of', async () => {
    const [asked, seen] = [await open(), await open()];
    const pay = await world.as('pia@example.com', { roles: ['approver'], groups: ['payments'] });
    const { schemaDigest } = (await pay.get(`/v1/approvals/${seen}`)).body;
    const grant = { scope: SEND, schemaDigest };
    for (const who of [requester, outsider]) {
      const remembering = { decision: 'approve', remember: { scope: SEND } };
      expect((await who.post(`/v1/approvals/${asked}/decision`, remembering)).status).toBe(403);
      expect(await who.post('/v1/grants', grant)).toMatchObject({ status: 201 });
      expect((await who.post('/v1/grants/preview', grant)).body).toMatchObject({ matched: 0 });
    }
    const later = await open();
    const given = (await pay.post('/v1/grants', grant)).body['grantId'];
    expect((await outsider.post(`/v1/grants/${given}/end`)).status).toBe(403);
    const granted = await open();
    await eventually(async () =>
      expect((await pay.get(`/v1/approvals/${granted}`)).body).toMatchObject({
        decision: { grant: { grantId: given } },
      }),
    );
    for (const id of [asked, later])
      expect((await pay.get(`/v1/approvals/${id}`)).body).toMatchObject({ status: 'pending' });
    expect((await outsider.post(`/v1/approvals/${granted}/revoke`, { reason: 'mine' })).status).toBe(403);
    expect((await pay.post(`/v1/approvals/${granted}/revoke`, { reason: 'mine' })).status).toBe(200);
  });
});

describe('who allows calls to come as an operator', () => {
  let world: World;
  beforeAll(async () => void (world = await World.start({})));
  afterAll(() => world.stop());

  it('allows what anybody may decide, in the name of their grant, and nothing that others are asked for', async () => {
    const [agent, olga] = await Promise.all([world.agent(), world.as('olga@example.com', { roles: ['operator'] })]);
    const mail = { tools: ['send_email'], agents: ['careful'], then: 'require' };
    const rules = [{ ...mail, id: 'mail', require: { approvers: { count: 1, groups: ['mail'] } } }];
    const policy = { expectedVersion: 0, rules, default: { approvers: { count: 1 } } };
    expect(await world.admin().post('/v1/policies', policy)).toMatchObject({ status: 201 });
    const see = async (id?: string) => (await olga.get(`/v1/approvals/${id}`)).body;
    await openTurn(agent);
    const given = await olga.post('/v1/grants', { scope: SEND });
    expect(given).toMatchObject({ status: 201 });
    const others = await openTurn(agent, { agent: { id: 'careful' } });
    const anybodys = await openTurn(agent);
    await eventually(async () =>
      expect(await see(anybodys.approvalIds[0])).toMatchObject({
        decision: { byKind: 'grant', grant: { grantId: given.body['grantId'], by: 'olga@example.com' } },
      }),
    );
    expect(await see(others.approvalIds[0])).toMatchObject({ status: 'pending' });
  });
});

function fail(): never {
  throw new Error('Every way has a request');
}
