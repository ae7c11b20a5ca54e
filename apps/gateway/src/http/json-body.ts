import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseLossless } from '#contracts/lossless-json';
import { refused } from './problem.js';

export const BODY_LIMIT = 1_048_576;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)"?/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The lossless JSON door: the only kind of body there is. Whatever else comes is answered 415 by Fastify. */
export function acceptJsonOnly(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const options = { parseAs: 'buffer', bodyLimit: BODY_LIMIT } as const;
  server.addContentTypeParser('application/json', options, async (request: FastifyRequest, bytes: Buffer) => {
    refuseOtherEncodings(request);
    return readJson(bytes);
  });
}

/** An empty body is no body; whether one was needed says the route. */
export function readJson(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return undefined;
  const parsed = parseLossless(decode(bytes));
  if (parsed.ok) return parsed.value;
  const [{ path, message } = { path: '', message: '' }] = parsed.errors;
  throw refused('invalid-input', path === '' ? `The body ${message}` : `${path} ${message}`, { errors: parsed.errors });
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw refused('invalid-input', 'The body must be valid UTF-8', {
      errors: [{ path: '', message: 'must be valid UTF-8' }],
    });
  }
}

function refuseOtherEncodings({ headers }: FastifyRequest): void {
  const [, charset = 'utf-8'] = CHARSET.exec(headers['content-type'] ?? '') ?? [];
  if (charset.toLowerCase() !== 'utf-8')
    throw refused('unsupported-media-type', `The body must be in UTF-8, not in ${charset}`);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw refused('unsupported-media-type', 'The body must not be compressed');
}
