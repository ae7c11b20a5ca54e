import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RE2JS } from 're2js';
import { digestOf } from '#contracts/canonical';
import type { FieldError } from '#contracts/parse';
import { inTime, OutOfTime } from './in-time.js';

export type CompiledSchema =
  | { readonly ok: true; readonly validate: (value: unknown) => FieldError[] }
  | { readonly ok: false; readonly message: string };
type Schema = Record<string, unknown>;

const KEPT_MAX = 500;
const kept = new Map<string, CompiledSchema>();
/** For the schemas of one turn, and for one value. */
const LONGEST_MS = 1_000;

/** JSON Schema 2020-12 of a tool's input, compiled once. It comes from an agent: nothing in it may hold up or end the service. */
export const compileInputSchema = (schema: Schema): CompiledSchema => compileBy(schema, performance.now() + LONGEST_MS);

/** Those of one turn, in one time for all: many slow ones take no longer than one. */
export function compileInputSchemas(schemas: readonly (Schema | undefined)[]): readonly (CompiledSchema | undefined)[] {
  const until = performance.now() + LONGEST_MS;
  return schemas.map((schema) => schema && compileBy(schema, until));
}

/** That there was no time is said, not kept: the next try may have some. */
function compileBy(schema: Schema, until: number): CompiledSchema {
  const digest = digestOf(schema);
  const known = kept.get(digest);
  if (known) return known;
  try {
    return keep(digest, compile(schema, until));
  } catch (error) {
    const no = { ok: false, message: messageOf(error) } as const;
    return error instanceof OutOfTime ? no : keep(digest, no);
  }
}

function keep(digest: string, compiled: CompiledSchema): CompiledSchema {
  const [oldest] = kept.keys();
  if (kept.size >= KEPT_MAX && oldest !== undefined) kept.delete(oldest);
  kept.set(digest, compiled);
  return compiled;
}

function compile(schema: Schema, until: number): CompiledSchema {
  // With it the compiler's answer is a promise, which is true of every value at once.
  if ('$async' in schema) throw new Error('"$async" is no keyword of JSON Schema');
  const meta = metaSchema();
  const validate = inTime(until - performance.now(), () => {
    if (meta.validateSchema(schema) !== true) throw new Error(meta.errorsText(meta.errors, { dataVar: 'schema' }));
    return newCompiler().compile(schema);
  });
  return { ok: true, validate: (value) => check(validate, value) };
}

let meta: Ajv2020 | undefined;
/** Made ready before the clock runs: stopped in the middle it would stay half made for ever. */
function metaSchema(): Ajv2020 {
  meta ??= new Ajv2020({ strict: false, logger: false });
  void meta.validateSchema({});
  return meta;
}

/** One a schema: schemas that share an `$id` must not see each other. Regular expressions run in linear time. */
function newCompiler(): Ajv2020 {
  const regExp = Object.assign((pattern: string) => linearPattern(pattern), { code: 'new RegExp' });
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    // What a schema must look like is looked at before, by one compiler for all.
    meta: false,
    validateSchema: false,
    code: { regExp, optimize: false },
  });
  addFormats.default(ajv);
  return ajv;
}

/** The compiler keeps patterns apart by their text. */
function linearPattern(pattern: string) {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text: string) => compiled.matcher(text).find(), toString: () => `linear:${pattern}` };
}

/** What cannot be checked is not let through. */
function check(validate: ValidateFunction, value: unknown): FieldError[] {
  try {
    return inTime(LONGEST_MS, () => errorsOf(validate, value));
  } catch (error) {
    return [{ path: '', message: `cannot be checked against the tool's schema: ${messageOf(error)}` }];
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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
