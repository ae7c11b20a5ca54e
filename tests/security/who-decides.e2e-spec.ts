import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Route } from '../../apps/gateway/src/http/route.js';
import { ROUTES, type RouteName } from '../../apps/gateway/src/http/routes.js';
import type { Api, ApiAnswer } from '../support/api.js';
import { openTurn } from '../support/stories.js';
import { World } from '../support/world.js';

/**
 * Every way in which a person can decide, or change what was decided: the request, for one approval. A route that approvers
 * may write to and that is not here fails the first test.
 */
const WAYS: Readonly<Partial<Record<RouteName, (who: Api, approvalId: string) => Promise<ApiAnswer>>>> = {
  decide: (who, id) => who.post(`/v1/approvals/${id}/decision`, { decision: 'approve' }),
  withdrawVote: (who, id) => who.delete(`/v1/approvals/${id}/vote`),
  decideMany: (who, id) => who.post('/v1/decisions', { items: [{ approvalId: id, decision: 'approve' }] }),
  revoke: (who, id) => who.post(`/v1/approvals/${id}/revoke`, { reason: 'mine' }),
};

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
    expect(Object.keys(ROUTES).filter(isWay).sort()).toEqual(Object.keys(WAYS).sort()));

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
});

function fail(): never {
  throw new Error('Every way has a request');
}
