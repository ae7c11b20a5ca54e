import { sealedFieldsOf } from '#contracts/fields';
import { nestedShapeOf } from '#contracts/parse';

/** What marked fields pass on their way into the log and out of it. Sealing them for real is a change here and nowhere else. */
export interface FieldCodec {
  seal(value: unknown): unknown;
  open(value: unknown): unknown;
}

export const PLAIN: FieldCodec = { seal: (value) => value, open: (value) => value };

type Shape = new () => object;
type Data = Record<string, unknown>;

/** A copy of the data with every marked field, nested ones too, passed through the codec. */
export function mapSealed(shape: Shape, data: object, through: (value: unknown) => unknown): Data {
  const sealed = sealedFieldsOf(shape);
  const entries = Object.entries(data).map(([field, value]): [string, unknown] => {
    if (sealed.includes(field)) return [field, through(value)];
    const nested = nestedShapeOf(shape, field);
    return [field, nested ? mapNested(nested, value, through) : value];
  });
  return Object.fromEntries(entries);
}

/** One object, or a list of them; anything else is left for the contract to refuse. */
function mapNested(shape: Shape, value: unknown, through: (value: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map((item) => mapOne(shape, item, through)) : mapOne(shape, value, through);
}

const mapOne = (shape: Shape, value: unknown, through: (value: unknown) => unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? mapSealed(shape, value, through) : value;
