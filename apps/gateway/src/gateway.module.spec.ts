import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { CONTROLLERS } from './gateway.module.js';
import { openApiDocument } from './http/openapi.js';
import { ROUTES, routeNamed, type RouteName } from './http/routes.js';

const PATH = 'path';
const CONFIG = '__fastify_route_config__';
const ARGUMENTS = '__routeArguments__';
const BODY = '3:';

interface Handler {
  readonly name: RouteName;
  /** What the handler says that its body is. */
  readonly body: unknown;
}

/** The handlers as they are registered: every method that Nest takes for one. */
const handlers: readonly Handler[] = CONTROLLERS.flatMap((controller) =>
  Object.getOwnPropertyNames(controller.prototype).flatMap((method) => handlerOf(controller, method)),
);

function handlerOf(controller: (typeof CONTROLLERS)[number], method: string): readonly Handler[] {
  const prototype = controller.prototype as Record<string, object>;
  const handler = prototype[method];
  if (method === 'constructor' || !handler || Reflect.getMetadata(PATH, handler) === undefined) return [];
  const { holdpointRoute } = Reflect.getMetadata(CONFIG, handler) as { holdpointRoute: RouteName };
  const types = Reflect.getMetadata('design:paramtypes', prototype, method) as unknown[];
  const given = Reflect.getMetadata(ARGUMENTS, controller, method) as Record<string, { index: number }> | undefined;
  const body = Object.entries(given ?? {}).find(([key]) => key.startsWith(BODY))?.[1];
  return [{ name: holdpointRoute, body: body && types[body.index] }];
}

describe('the gateway', () => {
  it('has one handler for every route of its table, and none beside', () =>
    expect(handlers.map(({ name }) => name).sort()).toEqual(Object.keys(ROUTES).sort()));

  it.each(handlers.map((handler) => [handler.name, handler.body]))(
    'gives %s the body that its route has checked',
    (name, body) => expect(body).toBe(routeNamed(name as RouteName).body),
  );
});

describe('the OpenAPI document', () => {
  const document = openApiDocument('1') as {
    paths: Record<string, Record<string, { responses: object }>>;
    components: { schemas: Record<string, object> };
  };

  it('describes every route of the table, and none beside', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(
      Object.values(ROUTES)
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    );
  });

  it('refers to nothing that it does not hold', () => {
    const refs = [...JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)];
    expect(refs.length).toBeGreaterThan(0);
    for (const [, kind = '', name = ''] of refs)
      expect((document.components as unknown as Record<string, Record<string, object>>)[kind]).toHaveProperty(name);
  });

  it('says what a turn must have', () =>
    expect(document.components.schemas['OpenTurn']).toMatchObject({
      required: ['conversationId', 'agent', 'toolCalls'],
      additionalProperties: false,
      properties: { toolCalls: { minItems: 1, maxItems: 64, items: { $ref: '#/components/schemas/ToolCall' } } },
    }));
});
