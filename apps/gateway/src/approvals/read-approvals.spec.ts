import { describe, expect, it } from '@jest/globals';
import type { HoldpointEvent } from '#contracts/events';
import type { Role } from '#contracts/tokens/events';
import { PoliciesInForce } from '#policy/in-force';
import {
  at,
  call,
  decided,
  ended,
  logOf,
  requested,
  resumed,
  started,
  succeeded,
  worker,
} from '../continuations/stories-for-spec.js';
import { Refused } from '../http/problem.js';
import { Changes } from '../live/changes.js';
import { ReadTurns } from '../turns/read-turns.js';
import { ReadApprovals } from './read-approvals.js';

const fail = (error: unknown) => {
  throw error;
};
const told = async (...events: readonly HoldpointEvent[]) => {
  const { events: log } = await logOf(...events);
  const turns = new ReadTurns(log, () => Date.parse(at(10)), new Changes(log, fail));
  return new ReadApprovals(turns, new PoliciesInForce(log));
};
const as = (...roles: readonly Role[]) => worker({ roles, subject: 'ada@example.com' });
const reasonOf = (asked: Promise<unknown>) =>
  asked.then(
    () => undefined,
    (error: unknown) => (error instanceof Refused ? error.refusal.reason : error),
  );

describe('one approval', () => {
  it('is shown with what was asked and every fact about it', async () => {
    const approvals = await told(
      requested({ calls: 2 }),
      decided(1),
      decided(0, 'denied'),
      resumed(),
      started(1),
      succeeded(1),
      ended(),
    );
    const view = await approvals.whole(as('approver'), call(1));
    expect(view).toMatchObject({
      approvalId: call(1),
      toolCallId: 'call_1',
      server: 'gmail',
      args: { to: 1 },
      status: 'executed',
      requirement: { approvers: { count: 1 } },
      steps: [],
      decision: { decision: 'approved', by: 'ada@example.com', seq: 2 },
      use: { is: 'started', attempt: 1, workerId: 'w-1' },
      outcome: { ok: true, result: { sent: 1 } },
      expiresAt: at(86_400),
      seq: 7,
    });
    expect(view.history.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'ToolApprovalRequested'],
      [2, 'ToolApprovalDecided'],
      [5, 'ToolExecutionStarted'],
      [6, 'ToolExecutionSucceeded'],
      [7, 'TurnEnded'],
    ]);
  });

  it('is shown to operators without what went into the tool and came out of it', async () => {
    const approvals = await told(requested(), decided(0), resumed(), started(0), succeeded(0));
    const text = JSON.stringify(await approvals.whole(as('operator'), call(0)));
    expect(text).not.toMatch(/"args"|"result"|"to":|"sent":/);
    expect(text).toContain('argsDigest');
  });

  it('is shown to an auditor, and to its own agent in its own pool', async () => {
    const approvals = await told(requested());
    expect(await approvals.whole(as('auditor'), call(0))).toMatchObject({ args: { to: 0 } });
    expect(await approvals.after(worker({ agent: 'billing-agent' }), call(0), 0)).toMatchObject({ args: { to: 0 } });
    expect(await reasonOf(approvals.whole(worker({ agent: 'other-agent' }), call(0)))).toBe('forbidden');
    expect(await reasonOf(approvals.after(worker({ pools: ['gpu'] }), call(0), 0))).toBe('forbidden');
  });

  it('that nobody asked for is not found', async () => {
    const approvals = await told(requested());
    expect(await reasonOf(approvals.whole(as('admin'), call(1)))).toBe('not-found');
    expect(await reasonOf((await told()).whole(as('admin'), call(0)))).toBe('not-found');
  });
});
