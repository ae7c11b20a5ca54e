import type { Schema, Schemas } from '../generate/valid.js';

/** One line of the gateway's own description of itself. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly body: Schema | undefined;
  readonly query: readonly { readonly name: string; readonly schema: Schema; readonly required: boolean }[];
  readonly isStream: boolean;
  readonly isOpen: boolean;
}

export interface Described {
  readonly operations: readonly Operation[];
  readonly schemas: Schemas;
  /** Every `type` that a problem document may have. */
  readonly problemTypes: readonly string[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Schema;
}
interface OperationObject {
  readonly parameters?: readonly Parameter[];
  readonly security?: readonly unknown[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Schemas };
}

/** From the OpenAPI document that the gateway serves: a new route is fuzzed without being named here. */
export async function readOperations(url: string): Promise<Described> {
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as OpenApi;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => operationOf(path, method, described)),
  );
  const types = document.components.schemas['Problem']?.properties?.['type']?.enum ?? [];
  return { operations, schemas: document.components.schemas, problemTypes: types.map(String) };
}

function operationOf(path: string, method: string, described: OperationObject): Operation {
  const { parameters = [], requestBody, security, responses } = described;
  return {
    method: method.toUpperCase(),
    path,
    body: Object.values(requestBody?.content ?? {})[0]?.schema,
    query: parameters.filter((one) => one.in === 'query'),
    isStream: Object.values(responses).some(({ content }) => content && 'text/event-stream' in content),
    isOpen: security?.length === 0,
  };
}
