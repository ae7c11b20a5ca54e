import { BulkDecisions, DecisionBody, RevokeBody, UseBody } from '#contracts/approvals/commands';
import { ApprovalsQuery } from '#contracts/queries';
import { OutcomeBody, SettleBody } from '#contracts/turns/commands';
import { AGENT, APPROVER, EVERYBODY, type Route } from '../http/route.js';

export const APPROVAL_ROUTES = {
  listApprovals: {
    method: 'GET',
    path: '/v1/approvals',
    roles: EVERYBODY,
    query: ApprovalsQuery,
    summary: 'Approvals, oldest first',
  },
  readApproval: {
    method: 'GET',
    path: '/v1/approvals/{approvalId}',
    roles: EVERYBODY,
    summary: 'One approval with its whole history',
  },
  decide: {
    method: 'POST',
    path: '/v1/approvals/{approvalId}/decision',
    roles: APPROVER,
    body: DecisionBody,
    summary: 'Approve, deny, respond or cancel',
  },
  withdrawVote: {
    method: 'DELETE',
    path: '/v1/approvals/{approvalId}/vote',
    roles: APPROVER,
    summary: 'Withdraw my vote',
  },
  decideMany: {
    method: 'POST',
    path: '/v1/decisions',
    roles: APPROVER,
    body: BulkDecisions,
    summary: 'Up to 100 decisions, each on its own',
  },
  revoke: {
    method: 'POST',
    path: '/v1/approvals/{approvalId}/revoke',
    roles: APPROVER,
    body: RevokeBody,
    summary: 'Take an approval back before it is used',
  },
  settle: {
    method: 'POST',
    path: '/v1/approvals/{approvalId}/settle',
    roles: ['operator'],
    body: SettleBody,
    summary: 'Say what became of a call in doubt',
  },
  use: {
    method: 'POST',
    path: '/v1/approvals/{approvalId}/use',
    roles: AGENT,
    body: UseBody,
    summary: 'Take the right to execute, once',
  },
  reportOutcome: {
    method: 'POST',
    path: '/v1/approvals/{approvalId}/outcome',
    roles: AGENT,
    body: OutcomeBody,
    summary: 'Report what the tool gave',
  },
} as const satisfies Record<string, Route>;
