import fc from 'fast-check';

/** The part of JSON Schema that the contract classes are described with. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}
export type Schemas = Readonly<Record<string, Schema>>;

/** What a field of some name is mostly given, so that generated requests meet each other's turns and approvals. */
export type Dictionary = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** What fields of the caller's own shape are given. */
export interface FreeJson {
  readonly json: fc.Arbitrary<unknown>;
  readonly object: fc.Arbitrary<unknown>;
}

const ITEMS_MAX = 4;
const TEXT_MAX = 60;
const DEEPEST = 2;
const CALLER_ID = '^[A-Za-z0-9_-]{1,128}$';

/** Values that satisfy a schema, from the schema alone: a new field or event needs nothing here. */
export class ValidValues {
  private readonly within: string[] = [];

  constructor(
    private readonly schemas: Schemas,
    private readonly dictionary: Dictionary,
    private readonly free: FreeJson,
  ) {}

  of(schema: Schema, name = ''): fc.Arbitrary<unknown> {
    const own = this.shaped(schema, name);
    const known = this.dictionary[name];
    return known ? fc.oneof({ arbitrary: known, weight: 9 }, { arbitrary: own, weight: 1 }) : own;
  }

  private shaped(schema: Schema, name: string): fc.Arbitrary<unknown> {
    if (schema.$ref !== undefined) return this.inside(schema.$ref, name);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    switch (schema.type) {
      case 'object':
        return schema.properties ? this.record(schema.properties, schema.required ?? []) : this.free.object;
      case 'array':
        return fc.array(this.of(schema.items ?? {}, name), lengths(schema.minItems ?? 0, schema.maxItems ?? ITEMS_MAX));
      case 'string':
        return textOf(schema);
      case 'number':
      case 'integer':
        return wholeNumber(schema);
      case 'boolean':
        return fc.boolean();
      default:
        return this.free.json;
    }
  }

  private record(properties: Readonly<Record<string, Schema>>, required: readonly string[]): fc.Arbitrary<unknown> {
    const fields = Object.entries(properties)
      .filter(([name, schema]) => required.includes(name) || !this.isDeep(schema))
      .map(([name, schema]) => [name, this.of(schema, name)] as const);
    return fc.record(Object.fromEntries(fields), { requiredKeys: [...required], noNullPrototype: true });
  }

  private inside(ref: string, name: string): fc.Arbitrary<unknown> {
    this.within.push(ref);
    const values = this.of(this.named(ref), name);
    this.within.pop();
    return values;
  }

  /** A shape that holds itself ends somewhere. */
  private isDeep({ $ref, items }: Schema): boolean {
    const ref = $ref ?? items?.$ref;
    return this.within.filter((one) => one === ref).length >= DEEPEST;
  }

  private named(ref: string): Schema {
    const schema = this.schemas[ref.split('/').at(-1) ?? ''];
    if (!schema) throw new Error(`There is no schema ${ref}`);
    return schema;
  }
}

const lengths = (minLength: number, most: number) => ({
  minLength,
  maxLength: Math.max(minLength, Math.min(most, ITEMS_MAX)),
});

function wholeNumber({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.constantFrom(minimum, maximum));
}

function textOf({ pattern, minLength = 0, maxLength = TEXT_MAX }: Schema): fc.Arbitrary<string> {
  const limits = { minLength, maxLength: Math.min(maxLength, TEXT_MAX) };
  if (pattern === undefined) return fc.string({ unit: 'grapheme', ...limits });
  if (pattern === CALLER_ID) return fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
  // Look-arounds and Unicode classes cannot be generated from: what is visible is filtered.
  if (pattern.includes('\\p{')) return visibleText(new RegExp(pattern, 'u'), limits);
  return fc.stringMatching(new RegExp(pattern));
}

const visibleText = (pattern: RegExp, limits: { minLength: number; maxLength: number }): fc.Arbitrary<string> =>
  fc.string({ unit: 'grapheme', ...limits }).filter((text) => pattern.test(text) && text.length <= limits.maxLength);
