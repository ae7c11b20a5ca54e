import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Api, ApiAnswer } from '../support/api.js';
import { approve, call, decide, openTurn, pullOne, resume } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

const ONE = { approvers: { count: 1 } };
const SCHEMA = { type: 'object', properties: { to: { type: 'string' } } };
interface Redemption {
  readonly n: number;
  readonly state: string;
  readonly approvalId: string;
}

const problem = (name: string) => ({ type: `urn:holdpoint:problem:${name}` });

/** Each story is told in a tenant of its own. */
describe('standing decisions', () => {
  let world: World;
  let tenants = 0;

  beforeAll(async () => {
    world = await World.start({});
  });
  afterAll(() => world.stop());

  async function office() {
    const tenant = `g${(tenants += 1)}`;
    const as = (subject: string, roles: string[], groups: string[] = []) =>
      world.as(subject, { roles, ...(groups.length > 0 ? { groups } : {}) }, tenant);
    const [operator, agent, ada] = await Promise.all([
      as('olga', ['operator']),
      as('robot', ['agent']),
      as('ada', ['approver']),
    ]);
    const publish = (policy: Record<string, unknown>, expectedVersion = 0) =>
      operator.post('/v1/policies', { expectedVersion, rules: [], default: ONE, ...policy });
    return { operator, agent, ada, as, publish };
  }

  const mail = (id: string, more: Record<string, unknown> = {}) => ({
    ...call(id, { to: 'x@example.com' }),
    inputSchema: SCHEMA,
    ...more,
  });
  const ask = async (agent: Api, more: Record<string, unknown> = {}) =>
    (await openTurn(agent, { toolCalls: [mail('c1')], ...more })).approvalIds[0] ?? '';
  const read = async (who: Api, id: string) => (await who.get(`/v1/approvals/${id}`)).body;
  const becomes = (who: Api, id: string, expected: Record<string, unknown>) =>
    eventually(async () => expect(await read(who, id)).toMatchObject(expected));
  const grantOf = async (who: Api, id: string): Promise<ApiAnswer> => who.get(`/v1/grants/${id}`);

  /** Asked after the call, and answered the same way: whatever was to be done without a person with the call before is done. */
  async function staysPending(who: Api, agent: Api, id: string, witness: () => Promise<string>): Promise<void> {
    await becomes(who, await witness(), { status: 'approved' });
    expect(await read(who, id)).toMatchObject({ status: 'pending' });
  }

  it('are remembered with a decision, and approve calls like it; each names its grant', async () => {
    const { agent, ada } = await office();
    const first = await ask(agent);
    const remember = { scope: { tool: 'send_email' }, maxUses: 2 };
    const answer = await decide(ada, first, { decision: 'approve', remember });
    expect(answer).toMatchObject({ status: 200, body: { verdict: 'counted' } });
    const { grantId } = answer.body['approval'].decision.remember;
    await eventually(async () =>
      expect((await grantOf(ada, grantId)).body).toMatchObject({
        scope: { tool: 'send_email', server: 'gmail' },
        issuedBy: 'ada',
        approvalId: first,
        status: 'active',
        used: 0,
      }),
    );
    const again = await decide(ada, first, { decision: 'approve', remember });
    expect(again).toMatchObject({ status: 200, body: { verdict: 'duplicate' } });
    const other = await decide(ada, first, { decision: 'approve' });
    expect(other).toMatchObject({ status: 409, body: problem('superseded') });

    const [second, third] = [await ask(agent), await ask(agent)];
    for (const id of [second, third])
      await becomes(ada, id, {
        status: 'approved',
        decision: { byKind: 'grant', by: grantId, grant: { grantId, by: 'ada' } },
      });
    const fourth = await ask(agent);
    const list = await eventually(async () => {
      const { body } = await ada.get('/v1/grants');
      expect(body['items']).toMatchObject([{ grantId, used: 2, maxUses: 2, status: 'used-up' }]);
      return body;
    });
    expect(list['items']).toHaveLength(1);
    const view = (await grantOf(ada, grantId)).body;
    expect((view['redemptions'] as Redemption[]).map(({ n, state }) => [n, state])).toEqual([
      [2, 'approved'],
      [1, 'approved'],
    ]);
    expect(await read(ada, fourth)).toMatchObject({ status: 'pending' });

    const item = await pullOne(agent, 'w1');
    expect(item['results']).toMatchObject([{ decision: 'approved' }]);
  });

  it('are bound to the tool as it was: its server, its schema, its annotations', async () => {
    const { agent, ada } = await office();
    const first = await ask(agent);
    await decide(ada, first, { decision: 'approve', remember: { scope: { tool: 'send_email' } } });
    const others = await Promise.all(
      [
        { server: 'other' },
        { server: undefined },
        { toolName: 'send_mails' },
        { inputSchema: {} },
        { annotations: { destructiveHint: true } },
      ].map((more) => ask(agent, { toolCalls: [mail('c1', more)] })),
    );
    await becomes(ada, await ask(agent), { status: 'approved' });
    for (const id of others) expect(await read(ada, id)).toMatchObject({ status: 'pending' });
  });

  it('are of an agent, a conversation and a condition, where these are said', async () => {
    const { agent, ada } = await office();
    const here = { conversationId: 'here' };
    const first = await ask(agent, here);
    const scope = {
      tool: 'send_email',
      agent: 'billing-agent',
      conversationId: 'here',
      when: "args.to.endsWith('example.com')",
    };
    const made = await decide(ada, first, { decision: 'approve', remember: { scope } });
    expect(made).toMatchObject({ status: 200 });
    const others = [
      await ask(agent, { ...here, agent: { id: 'another' } }),
      await ask(agent, { conversationId: 'there' }),
      await ask(agent, { ...here, toolCalls: [mail('c1', { args: { to: 'x@evil.test' } })] }),
      await ask(agent, { ...here, toolCalls: [mail('c1', { args: {} })] }),
    ];
    await becomes(ada, await ask(agent, here), { status: 'approved' });
    for (const id of others) expect(await read(ada, id)).toMatchObject({ status: 'pending' });
  });

  it('allow nothing that the grantor alone could not have approved', async () => {
    const { agent, ada, as, publish } = await office();
    const pay = await as('paul', ['approver'], ['payments']);
    const two = { approvers: { count: 2 } };
    await publish({
      rules: [
        { id: 'big', tools: ['send_email'], when: "args.to == 'many'", then: 'require', require: two },
        {
          id: 'paid',
          tools: ['send_email'],
          when: "args.to == 'bank'",
          then: 'require',
          require: { approvers: { count: 1, groups: ['payments'] } },
        },
        {
          id: 'held',
          tools: ['send_email'],
          when: "args.to == 'held'",
          then: 'require',
          require: { ...ONE, holdSeconds: 60 },
        },
        { id: 'no', tools: ['send_email'], when: "args.to == 'nobody'", then: 'deny' },
      ],
    });
    const to = (address: unknown, more = {}) =>
      ask(agent, { toolCalls: [mail('c1', { args: { to: address } })], ...more });
    expect(
      await decide(ada, await to('many'), { decision: 'approve', remember: { scope: { tool: 'send_email' } } }),
    ).toMatchObject({
      status: 403,
      body: problem('forbidden'),
    });
    const scope = { tool: 'send_email' };
    await decide(ada, await to('x'), { decision: 'approve', remember: { scope } });
    const forNobody = await to('nobody');
    const others = [
      await to('many'),
      await to('bank'),
      await to('held'),
      await to(7),
      await to('x', { agent: { id: 'billing-agent', onBehalfOf: 'ADA' } }),
    ];
    await becomes(ada, await to('x'), { status: 'approved' });
    for (const id of others.slice(0, 3)) expect(await read(ada, id)).toMatchObject({ status: 'pending' });
    expect(await read(ada, others[4] ?? '')).toMatchObject({ status: 'pending' });
    await becomes(ada, forNobody, { status: 'denied', decision: { byKind: 'policy' } });

    const bank = await to('bank');
    expect(
      await decide(pay, bank, { decision: 'approve', remember: { scope: { ...scope, when: "args.to == 'bank'" } } }),
    ).toMatchObject({ status: 200 });
    await becomes(pay, await to('bank'), { status: 'approved', decision: { grant: { by: 'paul' } } });
  });

  it('end: what they approved and nobody has used is taken back, and they approve nothing more', async () => {
    const { agent, ada, as, operator } = await office();
    const bob = await as('bob', ['approver']);
    const scope = { tool: 'send_email', server: 'gmail' };
    expect(await ada.post('/v1/grants', { scope })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'schemaDigest' }] },
    });
    const first = await ask(agent);
    await approve(ada, first);
    const { schemaDigest } = await read(ada, first);
    const made = await eventually(async () => {
      const answer = await ada.post('/v1/grants', { scope, expiresInSeconds: 3_600, maxUses: 5 });
      expect(answer).toMatchObject({ status: 201, body: { schemaDigest, maxUses: 5, issuedBy: 'ada' } });
      return answer;
    });
    const grantId = String(made.body['grantId']);
    const [used, unused] = [await ask(agent, { pool: 'p1' }), await ask(agent, { pool: 'p2' })];
    for (const id of [used, unused]) await becomes(ada, id, { status: 'approved' });

    const item = await pullOne(agent, 'w1', { pool: 'p1' });
    const { body: taken } = await resume(agent, item['leaseId'], 'w1');
    const digest = item['results'][0].argsDigest;
    const use = { workerId: 'w1', attempt: taken['attempt'], argsDigest: digest };
    expect(await agent.post(`/v1/approvals/${used}/use`, use)).toMatchObject({ status: 200 });
    expect(await read(ada, used)).toMatchObject({ use: { grantId } });

    expect(await bob.post(`/v1/grants/${grantId}/end`)).toMatchObject({ status: 403 });
    expect(await ada.post(`/v1/grants/${grantId}/end`, { reason: 'enough' })).toMatchObject({
      status: 200,
      body: { recorded: true },
    });
    expect(await operator.post(`/v1/grants/${grantId}/end`)).toMatchObject({ status: 200, body: { recorded: false } });
    await becomes(ada, unused, { status: 'revoked', use: { by: 'ada', reason: 'enough' } });
    expect(await read(ada, used)).toMatchObject({ status: 'executing' });
    const late = await ask(agent);
    const next = await ada.post('/v1/grants', { scope: { tool: 'witness' }, schemaDigest });
    expect(next).toMatchObject({ status: 201 });
    await becomes(ada, await ask(agent, { toolCalls: [mail('w', { toolName: 'witness', server: undefined })] }), {
      status: 'approved',
    });
    expect(await read(ada, late)).toMatchObject({ status: 'pending' });
    expect((await ada.get('/v1/grants')).body['items']).toMatchObject([
      { status: 'active' },
      { grantId, status: 'ended', end: { by: 'ada', reason: 'enough' }, used: 2 },
    ]);
  });

  it('approve nothing while frozen', async () => {
    const { agent, ada, operator } = await office();
    await decide(ada, await ask(agent), { decision: 'approve', remember: { scope: { tool: 'send_email' } } });
    await becomes(ada, await ask(agent), { status: 'approved' });
    await operator.post('/v1/freezes', { agent: 'billing-agent', on: true, reason: 'odd' });
    const frozen = await ask(agent);
    await staysPending(ada, agent, frozen, () => ask(agent, { agent: { id: 'another' } }));
  });

  it('show beforehand what they would have approved', async () => {
    const { agent, ada, operator } = await office();
    const ids: string[] = [];
    for (const to of ['a@example.com', 'b@evil.test', 'c@example.com'])
      ids.push(await ask(agent, { toolCalls: [mail('c1', { args: { to } })] }));
    await ask(agent, { toolCalls: [mail('c1', { toolName: 'other' })] });
    const scope = { tool: 'send_email', server: 'gmail', when: "args.to.endsWith('example.com')" };
    const preview = await eventually(async () => {
      const { body } = await ada.post('/v1/grants/preview', { scope });
      expect(body).toMatchObject({ of: 4, matched: 2 });
      return body;
    });
    expect((preview['items'] as Redemption[]).map(({ approvalId }) => approvalId)).toEqual([ids[2], ids[0]]);
    expect(await operator.post('/v1/grants/preview', { scope: { ...scope, when: 'args.to +' } })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'scope.when' }] },
    });
  });

  it('answer the same call again after a denial, in the same conversation, with its reason and a count', async () => {
    const { agent, ada, publish } = await office();
    const here = { conversationId: 'here' };
    const first = await ask(agent, here);
    await decide(ada, first, { decision: 'deny', reason: 'not to them' });
    const said = { status: 'denied', decision: { byKind: 'denial', by: first, reason: 'not to them' } };
    const second = await ask(agent, here);
    await becomes(ada, second, {
      ...said,
      decision: { ...said.decision, repeats: { approvalId: first, by: 'ada', count: 1 } },
    });
    const third = await ask(agent, here);
    await becomes(ada, third, { ...said, decision: { ...said.decision, repeats: { approvalId: first, count: 2 } } });
    const results = await pullOne(agent, 'w1');
    expect(results['results'][0].modelText).toContain('not to them');

    const others = [
      await ask(agent, { conversationId: 'there' }),
      await ask(agent, { ...here, toolCalls: [mail('c1', { args: { to: 'y' } })] }),
    ];
    await becomes(ada, await ask(agent, here), said);
    for (const id of others) expect(await read(ada, id)).toMatchObject({ status: 'pending' });

    await decide(ada, others[0], { decision: 'approve', remember: { scope: { tool: 'send_email' } } });
    await becomes(ada, await ask(agent, here), { status: 'approved', decision: { byKind: 'grant' } });

    await publish({ default: { ...ONE, askAgainAfterDenial: true } });
    const anew = await ask(agent, { ...here, toolCalls: [mail('c1', { args: { to: 'z' }, toolName: 'again' })] });
    await decide(ada, anew, { decision: 'deny' });
    const asked = await ask(agent, { ...here, toolCalls: [mail('c1', { args: { to: 'z' }, toolName: 'again' })] });
    await staysPending(ada, agent, asked, () => ask(agent));
  });
});
