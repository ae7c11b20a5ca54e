import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseLossless } from '#contracts/lossless-json';
import { refused, type Refused } from './problem.js';

export const BODY_LIMIT = 1_048_576;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)"?/i;

/** The lossless JSON door: the only kind of body there is. Whatever else comes is answered 415 by Fastify. */
export function acceptJsonOnly(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const options = { parseAs: 'buffer', bodyLimit: BODY_LIMIT } as const;
  server.addContentTypeParser('application/json', options, (request: FastifyRequest, bytes: Buffer) =>
    readBody(request, bytes),
  );
}

/** A promise, because what a parser throws any other way ends the process. */
const readBody = (request: FastifyRequest, bytes: Buffer): Promise<unknown> =>
  new Promise((resolve) => {
    refuseOtherEncodings(request);
    resolve(readJson(bytes));
  });

/** An empty body is no body; whether one was needed says the route. */
export function readJson(bytes: Buffer): unknown {
  if (bytes.byteLength === 0) return undefined;
  if (!isUtf8(bytes)) throw notUtf8();
  const parsed = parseLossless(bytes.toString('utf8'));
  if (parsed.ok) return parsed.value;
  const [{ path, message } = { path: '', message: '' }] = parsed.errors;
  throw refused('invalid-input', path === '' ? `The body ${message}` : `${path} ${message}`, { errors: parsed.errors });
}

const notUtf8 = (): Refused =>
  refused('invalid-input', 'The body must be valid UTF-8', { errors: [{ path: '', message: 'must be valid UTF-8' }] });

function refuseOtherEncodings({ headers }: FastifyRequest): void {
  const [, charset = 'utf-8'] = CHARSET.exec(headers['content-type'] ?? '') ?? [];
  if (charset.toLowerCase() !== 'utf-8')
    throw refused('unsupported-media-type', `The body must be in UTF-8, not in ${charset}`);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw refused('unsupported-media-type', 'The body must not be compressed');
}
