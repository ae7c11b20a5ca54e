import { SwitchFreeze } from '#contracts/freezes/commands';
import { ListQuery } from '#contracts/queries';
import { EVERYBODY, type Route } from '../http/route.js';

export const FREEZE_ROUTES = {
  listFreezes: {
    method: 'GET',
    path: '/v1/freezes',
    roles: EVERYBODY,
    query: ListQuery,
    summary: 'What is frozen now, the oldest first',
  },
  switchFreeze: {
    method: 'POST',
    path: '/v1/freezes',
    roles: ['operator'],
    body: SwitchFreeze,
    summary: 'Freeze a tool, an agent or the whole tenant, or let it go on',
  },
} as const satisfies Record<string, Route>;
