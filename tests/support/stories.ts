import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Api, ApiAnswer } from './api.js';

export interface OpenedTurn {
  readonly conversationId: string;
  readonly turnId: string;
  readonly approvalIds: string[];
  readonly seq: number;
}

export const call = (toolCallId: string, args: Record<string, unknown> = { to: 'x@example.com' }) => ({
  toolCallId,
  toolName: 'send_email',
  server: 'gmail',
  args,
});

/** Opens a turn as an agent would; one e-mail to send where nothing else is said. */
export async function openTurn(agent: Api, more: Record<string, unknown> = {}): Promise<OpenedTurn> {
  const conversationId = `conv-${randomUUID().slice(0, 8)}`;
  const answer = await agent.post('/v1/turns', {
    conversationId,
    agent: { id: 'billing-agent' },
    toolCalls: [call('call_1')],
    ...more,
  });
  expect(answer).toMatchObject({ status: 201 });
  const approvals = answer.body['approvals'] as { approvalId: string }[];
  return {
    conversationId: String(answer.body['conversationId']),
    turnId: String(answer.body['turnId']),
    approvalIds: approvals.map(({ approvalId }) => approvalId),
    seq: Number(answer.body['seq']),
  };
}

export const decide = (
  approver: Api,
  approvalId: string | undefined,
  body: Record<string, unknown>,
): Promise<ApiAnswer> => approver.post(`/v1/approvals/${approvalId}/decision`, body);

export async function approve(approver: Api, approvalId: string | undefined): Promise<ApiAnswer> {
  const answer = await decide(approver, approvalId, { decision: 'approve' });
  expect(answer).toMatchObject({ status: 200, body: { verdict: 'counted' } });
  return answer;
}

/** Pulls until something is offered; fails where nothing is. */
export async function pullOne(
  worker: Api,
  workerId: string,
  { pool = 'default', waitSeconds = 20 } = {},
): Promise<Record<string, any>> {
  const answer = await worker.post(`/v1/pools/${pool}/continuations/pull`, { workerId, max: 1, waitSeconds });
  expect(answer.status).toBe(200);
  const [item] = answer.body['items'] as Record<string, any>[];
  if (!item) throw new Error(`${workerId} was offered nothing in ${waitSeconds} s`);
  return item;
}

export async function resume(worker: Api, leaseId: string, workerId: string): Promise<ApiAnswer> {
  return worker.post(`/v1/continuations/${leaseId}/resume`, { workerId });
}
