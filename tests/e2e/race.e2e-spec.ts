import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Api, ApiAnswer } from '../support/api.js';
import { decide, openTurn } from '../support/stories.js';
import { World } from '../support/world.js';

describe.each([
  ['one server', false],
  ['a cluster of three', true],
])('fifty approvers decide one approval at the same moment, on %s', (_, cluster) => {
  let world: World;
  let agent: Api;
  let approvers: Api[];

  beforeAll(async () => {
    world = await World.start({ cluster });
    for (const name of ['orchestrator', 'approval-service'] as const) world.startService(name, { instance: '-2' });
    agent = await world.agent();
    approvers = await Promise.all(Array.from({ length: 50 }, (__, n) => world.approver(`approver-${n}@example.com`)));
    await world.ready();
  });
  afterAll(() => world.stop());

  it('one is counted, every other is told the same winner', async () => {
    for (let round = 0; round < 5; round += 1) {
      const turn = await openTurn(agent);
      const answers = await Promise.all(approvers.map((approver, n) => decide(approver, turn.approvalIds[0], wish(n))));
      const counted = answers.filter(({ status }) => status === 200);
      const superseded = answers.filter(isSuperseded);
      expect({ counted: counted.length, superseded: superseded.length }).toEqual({ counted: 1, superseded: 49 });
      expect(counted[0]?.body['verdict']).toBe('counted');
      expect(new Set(superseded.map(({ body }) => JSON.stringify(body['winner']))).size).toBe(1);
      expect(superseded[0]?.body['winner'].seq).toBe(counted[0]?.body['seq']);
    }
  });

  it('one person who presses twice is counted once and then a duplicate', async () => {
    const turn = await openTurn(agent);
    const ada = approvers[0] ?? agent;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => decide(ada, turn.approvalIds[0], { decision: 'approve' })),
    );
    expect(answers.map(({ body }) => body['verdict'] as string).sort()).toEqual([
      'counted',
      ...Array.from({ length: 9 }, () => 'duplicate'),
    ]);
  });

  it('of fifty that take the one right to run the tool, one has it', async () => {
    const turn = await openTurn(agent, { holder: { workerId: 'w-1', graceSeconds: 30 } });
    if (approvers[0]) await decide(approvers[0], turn.approvalIds[0], { decision: 'approve' });
    const taken = await agent.post(`/v1/turns/${turn.turnId}/resume`, {
      conversationId: turn.conversationId,
      workerId: 'w-1',
    });
    const { argsDigest } = taken.body['continuation'].results[0];
    const uses = await Promise.all(
      Array.from({ length: 50 }, () =>
        agent.post(`/v1/approvals/${turn.approvalIds[0]}/use`, { workerId: 'w-1', attempt: 1, argsDigest }),
      ),
    );
    expect(uses.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
  });

  it('of fifty that resume one turn, one has it', async () => {
    const turn = await openTurn(agent, { holder: { workerId: 'w-1', graceSeconds: 30 } });
    if (approvers[0]) await decide(approvers[0], turn.approvalIds[0], { decision: 'deny' });
    const body = { conversationId: turn.conversationId, workerId: 'w-1' };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => agent.post(`/v1/turns/${turn.turnId}/resume`, body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
  });
});

const wish = (n: number): Record<string, unknown> =>
  n % 3 === 0
    ? { decision: 'approve' }
    : n % 3 === 1
      ? { decision: 'deny', reason: `no, says ${n}` }
      : { decision: 'approve', updatedInput: { to: `edited-${n}@example.com` } };

const isSuperseded = ({ status, body }: ApiAnswer): boolean =>
  status === 409 && body['type'] === 'urn:holdpoint:problem:superseded';
