import { EndGrantBody, GrantBody } from '#contracts/grants/commands';
import { ListQuery } from '#contracts/queries';
import { READERS, type Route } from '../http/route.js';

const GRANTORS = ['approver', 'operator'] as const;

export const GRANT_ROUTES = {
  listGrants: {
    method: 'GET',
    path: '/v1/grants',
    roles: READERS,
    query: ListQuery,
    summary: 'Standing decisions, the newest first',
  },
  readGrant: {
    method: 'GET',
    path: '/v1/grants/{grantId}',
    roles: READERS,
    summary: 'One standing decision, with its newest uses and what became of each',
  },
  issueGrant: {
    method: 'POST',
    path: '/v1/grants',
    roles: GRANTORS,
    body: GrantBody,
    success: 201,
    summary: 'Approve calls from now on, as long as you alone could approve each',
  },
  endGrant: {
    method: 'POST',
    path: '/v1/grants/{grantId}/end',
    roles: GRANTORS,
    body: EndGrantBody,
    summary: 'End a grant, and take back what it approved and nobody has used',
  },
  previewGrant: {
    method: 'POST',
    path: '/v1/grants/preview',
    roles: GRANTORS,
    body: GrantBody,
    summary: 'Which of the last 100 calls a grant would have approved',
  },
} as const satisfies Record<string, Route>;
