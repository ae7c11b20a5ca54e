import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Api, ApiAnswer } from '../support/api.js';
import { decide, openTurn } from '../support/stories.js';
import { eventually, World } from '../support/world.js';

const ROUNDS = 500;
const AT_ONCE = 50;
const DEADLINE_MS = 3_000;

interface HistoryEntry {
  readonly seq: number;
  readonly type: string;
  readonly data: Record<string, any>;
}

describe('at the moment of its deadline, on a cluster of three,', () => {
  let world: World;
  let agent: Api;
  let ada: Api;
  let bob: Api;
  let carl: Api;

  beforeAll(async () => {
    world = await World.start({ cluster: true });
    world.startService('approval-service', { instance: '-2' });
    agent = await world.agent();
    [ada, bob, carl] = await Promise.all([world.approver(), world.approver(), world.approver()]);
    await world.ready();
    const seconds = DEADLINE_MS / 1_000;
    const escalate = [{ afterSeconds: seconds, approvers: { count: 3 } }];
    const policy = {
      expectedVersion: 0,
      rules: [],
      default: { approvers: { count: 2 }, expiresInSeconds: seconds + 60, escalate },
    };
    expect(await world.admin().post('/v1/policies', policy)).toMatchObject({ status: 201 });
  });
  afterAll(() => world.stop());

  /** Ada has approved; then Bob approves, Carl denies, Ada withdraws, the stage is reached and the time is over. */
  async function round(): Promise<void> {
    // The turn's own deadline may be when a stage begins; a policy's may not.
    const { approvalIds } = await openTurn(agent, { expiresInSeconds: DEADLINE_MS / 1_000 });
    const [id] = approvalIds;
    const opened = Date.now();
    await decide(ada, id, { decision: 'approve' });
    const aroundIt = () => sleep(Math.max(0, opened + DEADLINE_MS - Date.now()) + Math.random() * 1_200 - 300);
    const [approved, denied] = await Promise.all([
      aroundIt().then(() => decide(bob, id, { decision: 'approve' })),
      aroundIt().then(() => decide(carl, id, { decision: 'deny' })),
      aroundIt().then(() => ada.delete(`/v1/approvals/${id}/vote`)),
    ]);
    const history = await eventually(async () => {
      const { status, body } = await ada.get(`/v1/approvals/${id}`);
      expect({ status, open: ['pending', 'held'].includes(String(body['status'])) }).toEqual({
        status: 200,
        open: false,
      });
      return body['history'] as HistoryEntry[];
    });
    judge(history, { approved, denied });
  }

  it(`approve, deny, withdraw, escalate and expire end in one decision, ${ROUNDS} times`, async () => {
    for (let done = 0; done < ROUNDS; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, round));
  });
});

/** One decision, that follows from the steps that it went by; and nobody was told otherwise. */
function judge(
  history: readonly HistoryEntry[],
  told: { readonly approved: ApiAnswer; readonly denied: ApiAnswer },
): void {
  const decisions = history.filter(({ type }) => type === 'ToolApprovalDecided');
  expect(decisions).toHaveLength(1);
  const { decision, steps = 0 } = decisions[0]?.data ?? {};
  const closing = history.find(({ data }) => data['closes'] !== undefined && data['n'] <= steps);
  expect({ decision, history }).toEqual({ decision: closing?.data['closes'] ?? 'expired', history });
  const { status, body } = told.approved;
  if (status === 200 && body['votes'].have === body['votes'].need) expect(decision).toBe('approved');
  if (told.denied.status === 200) expect(decision).toBe('denied');
}
