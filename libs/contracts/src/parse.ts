import 'reflect-metadata';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';

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
  const unknown: FieldError[] = [];
  const value = instantiate(shape, input, '', unknown);
  const errors = [
    ...unknown,
    ...validateSync(value, { forbidUnknownValues: true }).flatMap((error) => flatten(error, '')),
  ];
  return errors.length > 0 ? { ok: false, errors } : { ok: true, value };
}

const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Free fields are taken over by reference, never copied or converted: what was sent is what is approved and run. */
function instantiate<T extends object>(
  shape: Shape<T>,
  input: Record<string, unknown>,
  path: string,
  unknown: FieldError[],
): T {
  const known = fieldsOf(shape);
  const value = new shape() as Record<string, unknown>;
  for (const [field, raw] of Object.entries(input)) {
    const here = join(path, field);
    if (!known.has(field)) unknown.push({ path: here, message: 'is not a field of this request' });
    else value[field] = instantiateField(nestedShapeOf(shape, field), raw, here, unknown);
  }
  return value as T;
}

function instantiateField(
  nested: Shape<object> | undefined,
  raw: unknown,
  path: string,
  unknown: FieldError[],
): unknown {
  if (nested === undefined) return raw;
  const one = (item: unknown, at: string) => (isJsonObject(item) ? instantiate(nested, item, at, unknown) : item);
  return Array.isArray(raw) ? raw.map((item, index) => one(item, `${path}[${index}]`)) : one(raw, path);
}

const fieldCache = new Map<Shape<object>, ReadonlySet<string>>();

function fieldsOf(shape: Shape<object>): ReadonlySet<string> {
  const cached = fieldCache.get(shape);
  if (cached) return cached;
  const metadata = getMetadataStorage().getTargetValidationMetadatas(shape, '', true, false);
  const fields = new Set(metadata.map((one) => one.propertyName));
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

/** The contract class of a nested field, where it has one. */
export const nestedShapeOf = (shape: Shape<object>, field: string): Shape<object> | undefined =>
  defaultMetadataStorage.findTypeMetadata(shape, field)?.typeFunction?.() as Shape<object> | undefined;
