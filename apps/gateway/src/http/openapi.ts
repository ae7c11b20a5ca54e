import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { validationMetadatasToSchemas } from 'class-validator-jsonschema';
import { PROBLEMS } from './problem.js';
import type { Route } from './route.js';
import { ALL_ROUTES, parametersOf } from './routes.js';

type Json = Readonly<Record<string, unknown>>;
interface Schema {
  readonly properties?: Json;
  readonly required?: readonly string[];
}

const REF = '#/components/schemas/';
const JSON_TYPE = 'application/json';

/** OpenAPI 3.1 of the route table; the schemas are those of the contract classes that check the requests. */
export function openApiDocument(version: string): Json {
  const all = contractSchemas();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdpoint',
      version,
      description: 'Human approval for tool calls of AI agents.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ token: [] }],
    paths: pathsOf(all),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'hp_<tokenId>_<secret>' } },
      schemas: {
        ...reachable(
          all,
          ALL_ROUTES.flatMap(({ body }) => (body ? [body.name] : [])),
        ),
        Problem: PROBLEM,
      },
      responses: {
        Problem: {
          description: 'A refusal',
          content: { 'application/problem+json': { schema: { $ref: `${REF}Problem` } } },
        },
      },
    },
  };
}

function contractSchemas(): Readonly<Record<string, Schema>> {
  const schemas = validationMetadatasToSchemas({
    classTransformerMetadataStorage: defaultMetadataStorage,
    refPointerPrefix: REF,
    additionalConverters: { isInt: { type: 'integer' } },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, { ...schema, additionalProperties: false } as Schema]),
  );
}

function pathsOf(all: Readonly<Record<string, Schema>>): Json {
  const paths: Record<string, Json> = {};
  for (const route of ALL_ROUTES)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route, all) };
  return paths;
}

function operationOf(route: Route, all: Readonly<Record<string, Schema>>): Json {
  const { summary, roles, success = 200, stream, body } = route;
  const parameters = [
    ...pathParameters(route.path),
    ...queryParameters(route.query && all[route.query.name]),
    ...headerParameters(route),
  ];
  return {
    summary,
    description:
      roles === 'open'
        ? 'Needs no token.'
        : `For ${roles.length === 0 ? 'every token' : `the roles ${roles.join(', ')}`}.`,
    ...(roles === 'open' ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: { required: true, content: { [JSON_TYPE]: { schema: { $ref: REF + body.name } } } } }
      : {}),
    responses: {
      [success]: {
        description: 'Done',
        content: stream
          ? { 'text/event-stream': { schema: { type: 'string' } } }
          : { [JSON_TYPE]: { schema: { type: 'object' } } },
      },
      default: { $ref: '#/components/responses/Problem' },
    },
  };
}

const pathParameters = (path: string): readonly Json[] =>
  parametersOf(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,128}$' },
  }));

const queryParameters = ({ properties = {}, required = [] }: Schema = {}): readonly Json[] =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));

const header = (name: string, description: string, schema: Json): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', ...schema },
});

function headerParameters({ method, roles }: Route): readonly Json[] {
  if (roles === 'open') return [];
  const tenant = header('Holdpoint-Tenant', 'For the admin token: the tenant meant.', {
    pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$',
  });
  const key = header('Idempotency-Key', 'The same request under the same key is recorded once.', {
    minLength: 1,
    maxLength: 255,
  });
  return method === 'GET' ? [tenant] : [tenant, key];
}

/** The named schemas and whatever they refer to. */
function reachable(all: Readonly<Record<string, Schema>>, names: readonly string[]): Json {
  const found = new Set(names);
  for (const name of found) {
    const text = JSON.stringify(all[name] ?? {});
    for (const [, inner = ''] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) found.add(inner);
  }
  return Object.fromEntries([...found].sort().map((name) => [name, all[name]]));
}

const PROBLEM: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { enum: Object.keys(PROBLEMS).map((name) => `urn:holdpoint:problem:${name}`) },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } },
    },
    winner: {
      type: 'object',
      properties: {
        decision: { type: 'string' },
        by: { type: 'string' },
        at: { type: 'string' },
        seq: { type: 'integer' },
      },
    },
    modelText: { type: 'string' },
    recorded: { const: 'unknown' },
    by: { type: 'string' },
    at: { type: 'string' },
  },
};
