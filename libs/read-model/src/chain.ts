import { createHash } from 'node:crypto';
import { canonicalJson } from '#contracts/canonical';
import type { RawFact } from '#event-log/log';

/** What the first link is chained to. */
export const CHAIN_START: Buffer = Buffer.alloc(32);

/** Everything that the log says of one message, byte for byte. */
export function leafHash({ seq, subject, headers, storedAt, data }: RawFact): Buffer {
  const frame = canonicalJson({ seq, subject, headers, storedAt });
  return createHash('sha256').update(frame).update('\n').update(data).digest();
}

/** Each link holds all that came before it: no message can be changed, left out or moved without every later link changing. */
export const chain = (previous: Uint8Array, raw: RawFact): Buffer =>
  createHash('sha256').update(previous).update(leafHash(raw)).digest();
