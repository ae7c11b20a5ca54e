import { applyDecorators, HttpCode, RequestMapping, RequestMethod } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import type { Route } from './route.js';
import { ROUTES, routeNamed, type RouteName } from './routes.js';

interface Config {
  readonly holdpointRoute?: RouteName;
}

/** Makes a controller's method the handler of a route of the table. */
export function On(name: RouteName): MethodDecorator {
  const { method, path, success = 200 } = routeNamed(name);
  return applyDecorators(
    RequestMapping({ method: RequestMethod[method], path: path.replace(/\{(\w+)\}/g, ':$1') }),
    HttpCode(success),
    RouteConfig({ holdpointRoute: name } satisfies Config),
  );
}

/** The route of the table that a request has come to. */
export function routeOf(request: FastifyRequest): Route | undefined {
  const { holdpointRoute } = request.routeOptions.config as Config;
  return holdpointRoute === undefined ? undefined : ROUTES[holdpointRoute];
}
