import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RE2JS } from 're2js';
import { digestOf } from '#contracts/canonical';
import type { FieldError } from '#contracts/parse';

export type CompiledSchema =
  | { readonly ok: true; readonly validate: (value: unknown) => FieldError[] }
  | { readonly ok: false; readonly message: string };

const KEPT_MAX = 500;
const kept = new Map<string, CompiledSchema>();

/** JSON Schema 2020-12 of a tool's input, compiled once. It comes from an agent, so no pattern of it may take exponential time. */
export function compileInputSchema(schema: Record<string, unknown>): CompiledSchema {
  const digest = digestOf(schema);
  const known = kept.get(digest);
  if (known) return known;
  const compiled = compile(schema);
  const [oldest] = kept.keys();
  if (kept.size >= KEPT_MAX && oldest !== undefined) kept.delete(oldest);
  kept.set(digest, compiled);
  return compiled;
}

function compile(schema: Record<string, unknown>): CompiledSchema {
  try {
    const validate = newCompiler().compile(schema);
    return { ok: true, validate: (value) => errorsOf(validate, value) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** One a schema: schemas that share an `$id` must not see each other. Regular expressions run in linear time. */
function newCompiler(): Ajv2020 {
  const regExp = Object.assign((pattern: string) => linearPattern(pattern), { code: 'new RegExp' });
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true, code: { regExp }, logger: false });
  addFormats.default(ajv);
  return ajv;
}

/** The compiler keeps patterns apart by their text. */
function linearPattern(pattern: string) {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text: string) => compiled.matcher(text).find(), toString: () => `linear:${pattern}` };
}

function errorsOf(validate: ValidateFunction, value: unknown): FieldError[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => ({ path: pathOf(error), message: error.message ?? 'is not valid' }));
}

/** `/items/0/name` → `items[0].name`; a missing or surplus field is named itself. */
function pathOf({ instancePath, params }: ErrorObject): string {
  const extra = params as { missingProperty?: string; additionalProperty?: string };
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const named = extra.missingProperty ?? extra.additionalProperty;
  return [...steps, ...(named === undefined ? [] : [named])].reduce(
    (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`),
    '',
  );
}
