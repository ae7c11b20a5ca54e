import 'reflect-metadata';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { CALLER_ID } from './ids.js';

/** The kinds of field that contracts are made of. Each is a few class-validator decorators under one name. */
const all =
  (...decorators: readonly PropertyDecorator[]): PropertyDecorator =>
  (target, property) =>
    decorators.forEach((decorate) => decorate(target, property));

const each = (array: boolean) => ({ each: array });

/** May be missing; `null` is not missing. */
export const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** An id that a caller makes: it stands in subjects, so nothing but letters, digits, `_` and `-`. */
export const CallerId = (): PropertyDecorator =>
  all(IsString(), Matches(CALLER_ID, { message: 'must be 1 to 128 letters, digits, "_" or "-"' }));

/** A name that people read: no control, bidirectional or invisible characters, no lone surrogates, no space at its ends. */
const VISIBLE = /^(?! )[^\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+(?<! )$/u;
export const Name = (max = 200, { array = false } = {}): PropertyDecorator =>
  all(
    IsString(each(array)),
    MinLength(1, each(array)),
    MaxLength(max, each(array)),
    Matches(VISIBLE, { ...each(array), message: 'must be visible characters without a space at either end' }),
  );
export const Names = (maxItems = 64, maxLength = 200): PropertyDecorator =>
  all(IsArray(), ArrayMaxSize(maxItems), Name(maxLength, { array: true }));

export const Text = (max: number): PropertyDecorator => all(IsString(), MaxLength(max));
export const NonEmptyText = (max: number): PropertyDecorator => all(IsString(), MinLength(1), MaxLength(max));
export const Int = (min: number, max: number): PropertyDecorator => all(IsInt(), Min(min), Max(max));
export const Flag = (): PropertyDecorator => IsBoolean();
export const OneOf = (values: readonly string[]): PropertyDecorator => IsIn([...values]);
export const Digest = (): PropertyDecorator =>
  all(IsString(), Matches(/^sha256:[0-9a-f]{64}$/, { message: 'must be "sha256:" and 64 hexadecimal digits' }));
export const Moment = (): PropertyDecorator =>
  all(
    IsString(),
    Matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, { message: 'must be RFC 3339 UTC with milliseconds' }),
  );

/** A JSON object of the caller's own shape, kept as it is. */
export const FreeObject = (): PropertyDecorator => IsObject();

/** Any JSON value, `null` included, kept as it is. */
export const AnyJson = (): PropertyDecorator => ValidateIf(() => true);

export const Nested = (shape: () => new () => object): PropertyDecorator =>
  all(IsObject(), ValidateNested(), Type(shape));
export const NestedList = (shape: () => new () => object, maxItems: number): PropertyDecorator =>
  all(IsArray(), ArrayMaxSize(maxItems), ValidateNested({ each: true }), Type(shape));

const sealedFields = new Map<object, string[]>();

/** Marks a field that may hold personal data or secrets: it passes the codec on its way into the log and out of it. */
export const Sealed = (): PropertyDecorator => (target, property) => {
  sealedFields.set(target, [...(sealedFields.get(target) ?? []), String(property)]);
};

const sealedOfShape = new Map<object, readonly string[]>();

/** The marked fields of a contract class, its ancestors' included. */
export function sealedFieldsOf(shape: new () => object): readonly string[] {
  const known = sealedOfShape.get(shape);
  if (known) return known;
  const fields: string[] = [];
  for (let at: unknown = shape.prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    fields.push(...(sealedFields.get(at) ?? []));
  sealedOfShape.set(shape, fields);
  return fields;
}
