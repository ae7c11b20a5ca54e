import { hash } from 'node:crypto';
import type { RawFact } from '#event-log/log';

/** What the first link is chained to. */
export const CHAIN_START: Buffer = Buffer.alloc(32);

/** The RFC 8785 form of headers: names and texts need no more than their order. */
export const canonicalHeaders = (headers: RawFact['headers']): string =>
  `{${Object.keys(headers)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(headers[name])}`)
    .join(',')}}`;

/** Everything that the log says of one message, byte for byte, in the RFC 8785 form. The headers' form may be known already. */
export function leafHash(
  { seq, subject, headers, storedAt, data }: RawFact,
  known = canonicalHeaders(headers),
): Buffer {
  const rest = `"seq":${seq},"storedAt":${JSON.stringify(storedAt)},"subject":${JSON.stringify(subject)}`;
  return hash('sha256', Buffer.concat([Buffer.from(`{"headers":${known},${rest}}\n`), data]), 'buffer');
}

/** Each link holds all that came before it: no message can be changed, left out or moved without every later link changing. */
export const chain = (previous: Uint8Array, raw: RawFact, headers?: string): Buffer =>
  hash('sha256', Buffer.concat([previous, leafHash(raw, headers)]), 'buffer');
