import 'reflect-metadata';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { isValid } from './validity.js';

export interface FieldError {
  readonly path: string;
  readonly message: string;
}
export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly errors: readonly FieldError[] };
type Shape<T extends object> = new () => T;

/** Parses a JSON value into a contract class: every unknown field and every broken rule is an error with its path. */
export function parse<T extends object>(shape: Shape<T>, input: unknown): Parsed<T> {
  if (!isJsonObject(input)) return { ok: false, errors: [{ path: '', message: 'must be a JSON object' }] };
  const wrong: FieldError[] = [];
  const value = instantiate(shape, input, '', wrong);
  if (wrong.length === 0 && isValid(value)) return { ok: true, value };
  return { ok: false, errors: [...wrong, ...errorsOf(value)] };
}

/** In class-validator's own words; it is asked only where something is known to be wrong. */
const errorsOf = (value: object): FieldError[] =>
  validateSync(value, { forbidUnknownValues: true }).flatMap((error) => flatten(error, ''));

const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Free fields are taken over by reference, never copied or converted: what was sent is what is approved and run. */
function instantiate<T extends object>(
  shape: Shape<T>,
  input: Record<string, unknown>,
  path: string,
  wrong: FieldError[],
): T {
  const known = fieldsOf(shape);
  const value = new shape() as Record<string, unknown>;
  for (const [field, raw] of Object.entries(input)) {
    const here = join(path, field);
    if (!known.has(field)) wrong.push({ path: here, message: 'is not a field of this request' });
    else value[field] = instantiateField(known.get(field), raw, here, wrong);
  }
  return value as T;
}

function instantiateField(nested: Shape<object> | undefined, raw: unknown, path: string, wrong: FieldError[]): unknown {
  if (nested === undefined) return raw;
  const one = (item: unknown, at: string) => (isJsonObject(item) ? instantiate(nested, item, at, wrong) : item);
  if (!Array.isArray(raw)) return one(raw, path);
  return raw.map((item: unknown, index) => {
    const at = `${path}[${index}]`;
    if (!Array.isArray(item)) return one(item, at);
    // class-validator would look into it, however deep it goes, and find nothing wrong with an empty one.
    wrong.push({ path: at, message: 'must be a JSON object' });
    return undefined;
  });
}

type Fields = ReadonlyMap<string, Shape<object> | undefined>;
const fieldCache = new Map<Shape<object>, Fields>();

/** The fields of a contract class, each with the contract class that it holds, where it holds one. */
function fieldsOf(shape: Shape<object>): Fields {
  const cached = fieldCache.get(shape);
  if (cached) return cached;
  const metadata = getMetadataStorage().getTargetValidationMetadatas(shape, '', true, false);
  const fields = new Map(metadata.map(({ propertyName }) => [propertyName, typeOf(shape, propertyName)]));
  fieldCache.set(shape, fields);
  return fields;
}

function flatten(error: ValidationError, parent: string): FieldError[] {
  const isIndex = Array.isArray(error.target);
  const path = isIndex ? `${parent}[${error.property}]` : join(parent, error.property);
  const own = Object.values(error.constraints ?? {}).map((message) => ({
    path,
    message: withoutField(message, error.property),
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => flatten(child, path))];
}

const join = (path: string, field: string): string => (path === '' ? field : `${path}.${field}`);

const withoutField = (message: string, field: string): string =>
  message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;

const typeOf = (shape: Shape<object>, field: string): Shape<object> | undefined =>
  defaultMetadataStorage.findTypeMetadata(shape, field)?.typeFunction?.() as Shape<object> | undefined;

/** The contract class of a nested field, where it has one. */
export const nestedShapeOf = (shape: Shape<object>, field: string): Shape<object> | undefined =>
  fieldsOf(shape).get(field);
