import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** The RFC 8785 form of a JSON value: the one text of which digests are taken and which is stored in the log. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('Only JSON values have a canonical form');
  return text;
}

/** `sha256:` and 64 hexadecimal digits over the RFC 8785 form of a JSON value (contract section 3, `argsDigest`). */
export function digestOf(value: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}
