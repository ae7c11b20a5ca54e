import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Api, ApiAnswer } from '../support/api.js';
import { approve, call, decide, openTurn, pullOne, resume } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

const ONE = { approvers: { count: 1 } };

/** Each tenant has a policy of its own; a story is told in one of its own. */
describe('policies', () => {
  let world: World;
  let tenants = 0;

  beforeAll(async () => {
    world = await World.start({});
    await world.ready();
  });
  afterAll(() => world.stop());

  async function office() {
    const tenant = `t${(tenants += 1)}`;
    const as = (subject: string, roles: string[], groups: string[] = []) =>
      world.as(subject, { roles, ...(groups.length > 0 ? { groups } : {}) }, tenant);
    const [operator, agent] = await Promise.all([as('olga', ['operator']), as('robot', ['agent'])]);
    const approver = (name: string, ...groups: string[]) => as(name, ['approver'], groups);
    let version = 0;
    const publish = async (policy: Record<string, unknown>): Promise<ApiAnswer> => {
      const answer = await operator.post('/v1/policies', {
        expectedVersion: version,
        rules: [],
        default: ONE,
        ...policy,
      });
      if (answer.status === 201) version += 1;
      return answer;
    };
    return { operator, agent, approver, publish };
  }

  const read = async (who: Api, id: string | undefined) => (await who.get(`/v1/approvals/${id}`)).body;
  const becomes = (who: Api, id: string | undefined, status: string) =>
    eventually(async () => expect(await read(who, id)).toMatchObject({ status }));
  const problem = (name: string) => ({ type: `urn:holdpoint:problem:${name}` });

  it('are published by version, read back, and refused where another was first or they are not valid', async () => {
    const { operator, publish } = await office();
    const rules = [{ id: 'never', tools: ['drop_*'], then: 'deny', reason: 'never' }];
    const first = await publish({ rules });
    expect(first).toMatchObject({ status: 201, body: { version: 1 } });
    const stale = await operator.post('/v1/policies', { expectedVersion: 0, rules: [], default: ONE });
    expect(stale).toMatchObject({ status: 409, body: problem('conflict') });
    const bad = await publish({ rules: [...rules, { id: 'x', tools: ['*'], then: 'approve', when: 'args.a >' }] });
    expect(bad).toMatchObject({
      status: 400,
      body: { ...problem('invalid-input'), errors: [{ path: 'rules[1].when' }] },
    });
    const second = await publish({ rules: [] });
    const list = await operator.get(`/v1/policies?after=${second.body['seq']}`);
    expect(list.body['items']).toMatchObject([
      { version: 2, rules: [], default: ONE, publishedBy: 'olga' },
      { version: 1, rules, hash: first.body['hash'] },
    ]);
    const page = await operator.get('/v1/policies?limit=1');
    const next = await operator.get(`/v1/policies?limit=1&cursor=${page.body['nextCursor']}`);
    expect([page, next].map(({ body }) => body['items'][0].version as number)).toEqual([2, 1]);
  });

  it('decide by themselves what they allow and what they forbid; people are too late', async () => {
    const { agent, approver, publish } = await office();
    await publish({
      rules: [
        { id: 'reads', tools: ['read_*'], then: 'approve' },
        { id: 'drops', tools: ['*'], when: "args.what == 'all'", then: 'deny', reason: 'Not all of it.' },
      ],
    });
    const toolCalls = [
      { ...call('c1', { what: 'some' }), toolName: 'read_file' },
      { ...call('c2', { what: 'all' }), toolName: 'read_file' },
    ];
    const turn = await openTurn(agent, { toolCalls });
    const ada = await approver('ada');
    const late = await decide(ada, turn.approvalIds[1], { decision: 'approve' });
    expect(late).toMatchObject({
      status: 409,
      body: { ...problem('superseded'), winner: { decision: 'denied', by: 'policy' } },
    });
    const offer = await pullOne(agent, 'w-1');
    expect(offer['results']).toMatchObject([
      { decision: 'approved', decidedBy: 'policy' },
      { decision: 'denied', reason: 'Not all of it.' },
    ]);
    expect(offer['results'][1].modelText).toContain('a policy forbids it');
    expect(await read(ada, turn.approvalIds[0])).toMatchObject({
      requirement: { effect: 'approve', rules: ['reads'], policyVersion: 1 },
      decision: { byKind: 'policy', rules: ['reads'] },
    });
  });

  it('ask two people where two are needed; the answer says how many are there', async () => {
    const { agent, approver, publish } = await office();
    await publish({ default: { approvers: { count: 2 } } });
    const turn = await openTurn(agent);
    const [id] = turn.approvalIds;
    const [ada, bob, carl] = await Promise.all(['ada', 'bob', 'carl'].map((name) => approver(name)));
    if (!ada || !bob || !carl) throw new Error('Three approvers were made');
    const vote = (who: Api, body: object = {}) => decide(who, id, { decision: 'approve', ...body });
    expect(await vote(ada)).toMatchObject({
      status: 200,
      body: {
        verdict: 'counted',
        votes: { have: 1, need: 2 },
        approval: { status: 'pending', steps: [{ by: 'ada' }] },
      },
    });
    expect((await vote(ada)).body).toMatchObject({ verdict: 'duplicate', votes: { have: 1, need: 2 } });
    expect(await ada.delete(`/v1/approvals/${id}/vote`)).toMatchObject({ status: 200 });
    expect((await vote(bob)).body).toMatchObject({ votes: { have: 1, need: 2 } });
    const last = await vote(carl);
    expect(last.body).toMatchObject({
      verdict: 'counted',
      votes: { have: 2, need: 2 },
      approval: { status: 'approved' },
    });
    expect(await vote(ada)).toMatchObject({ status: 409, body: { winner: { decision: 'approved', by: 'carl' } } });
    const other = (await openTurn(agent)).approvalIds[0];
    await decide(ada, other, { decision: 'approve' });
    expect((await decide(bob, other, { decision: 'deny' })).body).toMatchObject({ votes: { have: 1, need: 1 } });
    expect((await pullOne(agent, 'w-1'))['results'][0]).toMatchObject({ decision: 'approved', decidedBy: 'carl' });
  });

  it('hold an approval, which can be undone meanwhile', async () => {
    const { agent, approver, publish } = await office();
    await publish({ default: { ...ONE, holdSeconds: 3 } });
    const ada = await approver('ada');
    const [undone, kept] = [await openTurn(agent), await openTurn(agent)];
    const held = await approve(ada, undone.approvalIds[0]);
    expect(held.body['approval']).toMatchObject({ status: 'held' });
    const list = await ada.get(`/v1/approvals?status=held&after=${held.body['seq']}`);
    expect(list.body['items']).toMatchObject([{ approvalId: undone.approvalIds[0] }]);
    await ada.delete(`/v1/approvals/${undone.approvalIds[0]}/vote`);
    await approve(ada, kept.approvalIds[0]);
    await becomes(ada, kept.approvalIds[0], 'approved');
    expect(await read(ada, undone.approvalIds[0])).toMatchObject({ status: 'pending' });
    const { history } = await read(ada, kept.approvalIds[0]);
    expect((history as { type: string }[]).map(({ type }) => type)).toEqual([
      'ToolApprovalRequested',
      'ApprovalVoteCast',
      'ApprovalHoldEnded',
      'ToolApprovalDecided',
    ]);
  });

  it('escalate when the time has come, and at once where nobody asked could be enough', async () => {
    const { agent, approver, publish } = await office();
    const toBoss = (afterSeconds: number) => [{ afterSeconds, approvers: { count: 1, subjects: ['boss'] } }];
    await publish({
      default: { approvers: { count: 1, subjects: ['ada'] }, escalate: toBoss(2) },
      rules: [
        {
          id: 'own',
          tools: ['own_*'],
          then: 'require',
          require: { approvers: { count: 1, subjects: ['ada'] }, escalate: toBoss(3_600) },
        },
      ],
    });
    const boss = await approver('boss');
    const slow = await openTurn(agent);
    expect(await decide(boss, slow.approvalIds[0], { decision: 'approve' })).toMatchObject({ status: 403 });
    const own = await openTurn(agent, {
      agent: { id: 'a', onBehalfOf: 'ada' },
      toolCalls: [{ ...call('c1'), toolName: 'own_thing' }],
    });
    for (const { approvalIds } of [own, slow])
      await eventually(async () => expect((await read(boss, approvalIds[0]))['steps']).toHaveLength(1));
    await approve(boss, own.approvalIds[0]);
    await approve(boss, slow.approvalIds[0]);
  });

  it('are met by the votes that there are when a stage begins for which they suffice; held first, where they hold', async () => {
    const { agent, approver, publish } = await office();
    const require = { approvers: { count: 2 }, escalate: [{ afterSeconds: 2, approvers: { count: 1 } }] };
    const rules = [{ id: 'held', tools: ['held_*'], then: 'require', require: { ...require, holdSeconds: 3 } }];
    await publish({ default: require, rules });
    const ada = await approver('ada');
    const [atOnce] = (await openTurn(agent)).approvalIds;
    const [heldFirst] = (await openTurn(agent, { toolCalls: [{ ...call('c1'), toolName: 'held_thing' }] })).approvalIds;
    for (const id of [atOnce, heldFirst])
      expect(await decide(ada, id, { decision: 'approve', reason: 'fine' })).toMatchObject({
        body: { votes: { have: 1, need: 2 }, approval: { status: 'pending' } },
      });
    await becomes(ada, heldFirst, 'held');
    await eventually(async () =>
      expect((await ada.get('/v1/approvals?status=held')).body['items']).toMatchObject([{ approvalId: heldFirst }]),
    );
    await becomes(ada, atOnce, 'approved');
    await becomes(ada, heldFirst, 'approved');
    expect(await read(ada, heldFirst)).toMatchObject({ decision: { by: 'ada', reason: 'fine' } });
    const { body } = await ada.get(`/v1/approvals?status=approved`);
    expect(body['items']).toHaveLength(2);
  });

  it('expire as they say, and an approval lapses as they say', async () => {
    const { agent, approver, publish } = await office();
    const ada = await approver('ada');
    await publish({ default: { ...ONE, expiresInSeconds: 1, onExpiry: 'approve', useWithinSeconds: 2 } });
    const turn = await openTurn(agent);
    await becomes(ada, turn.approvalIds[0], 'approved');
    expect(await read(ada, turn.approvalIds[0])).toMatchObject({ decision: { byKind: 'timer' } });
    await becomes(ada, turn.approvalIds[0], 'lapsed');
    await publish({ default: { ...ONE, expiresInSeconds: 1 } });
    const strict = await openTurn(agent, { expiresInSeconds: 3_600 });
    await becomes(ada, strict.approvalIds[0], 'expired');
  });

  it('that are replaced leave what is pending as it was asked', async () => {
    const { agent, approver, publish } = await office();
    const ada = await approver('ada');
    await publish({ default: { approvers: { count: 2 } } });
    const before = await openTurn(agent);
    await publish({ rules: [{ id: 'all', tools: ['*'], then: 'deny' }] });
    const after = await openTurn(agent);
    await becomes(ada, after.approvalIds[0], 'denied');
    expect((await decide(ada, before.approvalIds[0], { decision: 'approve' })).body).toMatchObject({
      votes: { have: 1, need: 2 },
      approval: { requirement: { policyVersion: 1 } },
    });
  });

  it('are tried on what was asked before they are published', async () => {
    const { operator, agent, approver, publish } = await office();
    const ada = await approver('ada');
    const mail = { id: 'mail', tools: ['send_*'], then: 'approve' };
    const [denied, approved, other] = [await openTurn(agent), await openTurn(agent), await openTurn(agent)];
    await decide(ada, denied.approvalIds[0], { decision: 'deny', reason: 'no' });
    await approve(ada, approved.approvalIds[0]);
    await publish({ rules: [{ ...mail, when: "args.to == 'nobody'" }] });
    const last = await openTurn(agent, {
      toolCalls: [call('c1', { to: 'nobody' }), { ...call('c2'), toolName: 'pay' }],
    });
    const simulated = async (draft: object) => {
      const answer = await fetch(`${operator.url}/v1/policies/simulate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${operator.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ rules: [mail], default: ONE, ...draft }),
      });
      const lines = (await answer.text()).trim().split('\n');
      return { status: answer.status, lines: lines.map((line) => JSON.parse(line) as Record<string, any>) };
    };
    const { lines } = await simulated({});
    expect(
      lines.filter(({ type }) => type === 'call').map(({ before, after }) => [before.effect, after.effect]),
    ).toEqual([
      ['require', 'approve'],
      ['require', 'approve'],
      ['require', 'approve'],
      ['approve', 'approve'],
      ['require', 'require'],
    ]);
    expect(lines.filter(({ type }) => type === 'regret')).toMatchObject([
      { approvalId: denied.approvalIds[0], by: 'ada' },
    ]);
    const sums = { type: 'sums', calls: 5, askedFewer: 3, askedMore: 0, regret: 1 };
    expect(lines.at(-1)).toMatchObject(sums);
    const part = await simulated({ fromSeq: other.seq, untilSeq: last.seq - 1 });
    expect(part.lines.at(-1)).toMatchObject({ calls: 1, regret: 0 });
    const unseen = await publish({ rules: [mail] });
    expect(unseen).toMatchObject({ status: 409, body: problem('conflict') });
    expect(unseen.body['detail']).toContain(denied.approvalIds[0]);
    expect(await publish({ rules: [mail], acknowledgeRegret: true })).toMatchObject({ status: 201 });
    const bad = await simulated({ rules: [{ ...mail, when: 'args.' }] });
    expect(bad).toMatchObject({ status: 400, lines: [problem('invalid-input')] });
  });

  it('approve nothing that is frozen, and nothing frozen is used; people still decide', async () => {
    const { operator, agent, approver, publish } = await office();
    const ada = await approver('ada');
    await publish({ rules: [{ id: 'mail', tools: ['send_*'], then: 'approve' }] });
    const freeze = (on: boolean) => operator.post('/v1/freezes', { tool: 'send_*', on, reason: 'drill' });
    const other = await operator.post('/v1/freezes', { agent: 'nobody', on: true, reason: 'drill' });
    const frozen = await freeze(true);
    expect(frozen).toMatchObject({ status: 200, body: { recorded: true } });
    const first = await ada.get(`/v1/freezes?limit=1&after=${String(frozen.body['seq'])}`);
    expect(first.body['items']).toMatchObject([{ agent: 'nobody', seq: other.body['seq'] }]);
    const second = await ada.get(`/v1/freezes?limit=1&cursor=${String(first.body['nextCursor'])}`);
    expect(second.body).toMatchObject({ items: [{ tool: 'send_*', by: 'olga', reason: 'drill' }], nextCursor: null });
    const [decided, left] = [await openTurn(agent, { pool: 'frozen' }), await openTurn(agent)];
    await approve(ada, decided.approvalIds[0]);
    const { leaseId, results } = await pullOne(agent, 'w-1', { pool: 'frozen' });
    await resume(agent, leaseId, 'w-1');
    const use = () =>
      agent.post(`/v1/approvals/${decided.approvalIds[0]}/use`, {
        workerId: 'w-1',
        attempt: 1,
        argsDigest: results[0].argsDigest,
      });
    expect(await use()).toMatchObject({ status: 409, body: { ...problem('frozen'), by: 'olga' } });
    expect(await read(ada, left.approvalIds[0])).toMatchObject({ status: 'pending' });
    const elsewhere = String((await operator.get('/v1/approvals?limit=1')).body['nextCursor']);
    expect(await operator.get(`/v1/freezes?cursor=${elsewhere}`)).toMatchObject({ status: 400 });
    const lifted = await freeze(false);
    expect(lifted).toMatchObject({ status: 200, body: { recorded: true } });
    expect((await freeze(false)).body).toMatchObject({ recorded: false, seq: lifted.body['seq'] });
    expect(await use()).toMatchObject({ status: 200 });
    await becomes(ada, left.approvalIds[0], 'approved');
  });

  it('whose rule fails leave it to a person, and say so', async () => {
    const { agent, approver, publish } = await office();
    const ada = await approver('ada');
    await publish({ rules: [{ id: 'wrong', tools: ['*'], when: 'args.amount < 10.0', then: 'approve' }] });
    const turn = await openTurn(agent);
    await eventually(async () => {
      const { history } = await read(ada, turn.approvalIds[0]);
      expect((history as object[]).at(-1)).toMatchObject({
        type: 'PolicyEvaluationFailed',
        data: { failures: [{ rule: 'wrong' }] },
      });
    });
    await approve(ada, turn.approvalIds[0]);
  });
});
