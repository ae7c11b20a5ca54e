import { EventsQuery, ListQuery, StreamQuery } from '#contracts/queries';
import { IssueToken } from '#contracts/tokens/commands';
import { EVERYBODY, READERS, type Route } from '../http/route.js';

export const OPERATION_ROUTES = {
  issueToken: {
    method: 'POST',
    path: '/v1/tokens',
    roles: ['admin'],
    body: IssueToken,
    success: 201,
    summary: 'Issue a token; it is shown this once',
  },
  listTokens: {
    method: 'GET',
    path: '/v1/tokens',
    roles: ['admin'],
    query: ListQuery,
    summary: 'API tokens, without their secrets',
  },
  revokeToken: { method: 'POST', path: '/v1/tokens/{tokenId}/revoke', roles: ['admin'], summary: 'Revoke a token' },
  me: { method: 'GET', path: '/v1/me', roles: [], summary: 'Who am I, with which roles' },
  stats: {
    method: 'GET',
    path: '/v1/stats',
    roles: READERS,
    query: StreamQuery,
    summary: 'Counts, ages and latencies',
  },
  listEvents: {
    method: 'GET',
    path: '/v1/events',
    roles: ['auditor'],
    query: EventsQuery,
    summary: 'The log, page by page',
  },
  listParked: {
    method: 'GET',
    path: '/v1/parked',
    roles: ['operator', 'auditor'],
    query: ListQuery,
    summary: 'What could not be applied',
  },
  unpark: {
    method: 'POST',
    path: '/v1/parked/{parkedId}/unpark',
    roles: ['operator'],
    summary: 'Apply again what could not be applied',
  },
  conversationStream: {
    method: 'GET',
    path: '/v1/conversations/{conversationId}/events',
    roles: EVERYBODY,
    query: StreamQuery,
    stream: true,
    summary: 'A conversation as it happens',
  },
  approvalStream: {
    method: 'GET',
    path: '/v1/stream',
    roles: READERS,
    query: StreamQuery,
    stream: true,
    summary: 'Approvals as they change',
  },
  openApi: { method: 'GET', path: '/v1/openapi.json', roles: 'open', summary: 'This description' },
  ready: { method: 'GET', path: '/readyz', roles: 'open', summary: 'Whether decisions can be taken' },
  healthy: { method: 'GET', path: '/healthz', roles: 'open', summary: 'Whether the process lives' },
} as const satisfies Record<string, Route>;
