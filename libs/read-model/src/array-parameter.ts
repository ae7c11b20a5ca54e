/** Postgres' own binary form of an array: nothing is escaped, copied twice or parsed over there. Text travels as `text[]`. */
const HEADER_BYTES = 20;
const TEXT_OID = 25;
const BYTEA_OID = 17;
const MOST_BYTES_A_UNIT = 3;

/** What is not there is null. */
export function textArray(values: readonly (string | number | boolean | undefined)[]): Buffer {
  const texts = values.map((value) => (value === undefined ? undefined : String(value)));
  const most = texts.reduce((sum, text) => sum + 4 + (text?.length ?? 0) * MOST_BYTES_A_UNIT, HEADER_BYTES);
  const array = arrayOf(TEXT_OID, texts.length, most);
  let at = HEADER_BYTES;
  for (const text of texts) {
    const bytes = text === undefined ? -1 : array.write(text, at + 4);
    at = array.writeInt32BE(bytes, at) + Math.max(0, bytes);
  }
  return array.subarray(0, at);
}

export function bytesArray(values: readonly Uint8Array[]): Buffer {
  const size = values.reduce((sum, value) => sum + 4 + value.byteLength, HEADER_BYTES);
  const array = arrayOf(BYTEA_OID, values.length, size);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = array.writeInt32BE(value.byteLength, at);
    array.set(value, at);
    at += value.byteLength;
  }
  return array;
}

/** One dimension that begins at 1, nulls allowed. */
function arrayOf(elementOid: number, length: number, bytes: number): Buffer {
  const array = Buffer.allocUnsafe(bytes);
  [1, 1, elementOid, length, 1].forEach((field, index) => array.writeInt32BE(field, index * 4));
  return array;
}
