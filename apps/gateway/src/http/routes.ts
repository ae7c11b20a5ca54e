import { APPROVAL_ROUTES } from '../approvals/routes.js';
import { FREEZE_ROUTES } from '../freezes/routes.js';
import { GRANT_ROUTES } from '../grants/routes.js';
import { OPERATION_ROUTES } from '../operations/routes.js';
import { POLICY_ROUTES } from '../policies/routes.js';
import { TURN_ROUTES } from '../turns/routes.js';
import type { Route } from './route.js';

/** The one table of what the gateway answers: controllers, checks of input and roles, and OpenAPI all come from it. */
export const ROUTES = {
  ...TURN_ROUTES,
  ...APPROVAL_ROUTES,
  ...POLICY_ROUTES,
  ...FREEZE_ROUTES,
  ...GRANT_ROUTES,
  ...OPERATION_ROUTES,
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
export const routeNamed = (name: RouteName): Route => ROUTES[name];
export const ALL_ROUTES: readonly Route[] = Object.values(ROUTES);

export const parametersOf = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

const patterns = ALL_ROUTES.map(({ path, method }) => ({
  method,
  at: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Which methods an address takes, for 405 and OPTIONS; none where there is nothing at it. */
export function methodsAt(pathname: string): readonly string[] {
  const methods = new Set<string>(patterns.filter(({ at }) => at.test(pathname)).map(({ method }) => method));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods];
}
