import { PublishPolicy, SimulatePolicy } from '#contracts/policies/commands';
import { ListQuery } from '#contracts/queries';
import { READERS, type Route } from '../http/route.js';

export const POLICY_ROUTES = {
  listPolicies: {
    method: 'GET',
    path: '/v1/policies',
    roles: READERS,
    query: ListQuery,
    summary: 'Every version of the policy, the newest first',
  },
  publishPolicy: {
    method: 'POST',
    path: '/v1/policies',
    roles: ['operator'],
    body: PublishPolicy,
    success: 201,
    summary: 'Publish the next version of the policy',
  },
  simulatePolicy: {
    method: 'POST',
    path: '/v1/policies/simulate',
    roles: ['operator', 'auditor'],
    body: SimulatePolicy,
    summary: 'Try a draft on recorded requests; a JSON object a line',
  },
} as const satisfies Record<string, Route>;
