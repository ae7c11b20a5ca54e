import { setMaxListeners } from 'node:events';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptJsonOnly, BODY_LIMIT } from './json-body.js';
import { sourceOf } from './problem-filter.js';
import { problemOf, PROBLEM_TYPE, type Problem } from './problem.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the gateway stops: whoever waits answers with what there is. */
    readonly stopping: AbortSignal;
  }
}

/** Nothing of an answer may be kept, framed, sniffed or run. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

/** Longer than any id, percent-encoded; what is longer still is no id. */
const PARAMETER_MAX = 512;

export function createServer(stopping: AbortSignal): FastifyAdapter {
  const adapter = new FastifyAdapter({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 15_000 },
    routerOptions: { maxParamLength: PARAMETER_MAX },
    frameworkErrors: answerRouterError,
    clientErrorHandler: answerBrokenRequest,
  });
  const server: FastifyInstance = adapter.getInstance();
  // Whoever waits listens for the stop: any number of them is no leak.
  setMaxListeners(0, stopping);
  server.decorate('stopping', stopping);
  server.addHook('onRequest', async (_request, reply) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) reply.raw.setHeader(name, value);
  });
  acceptJsonOnly(server);
  // Node itself would answer an expectation that it does not know, without a word of ours; it is no more than a wish.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response));
  return adapter;
}

/** The router could not read the address: no hook has run yet. */
function answerRouterError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(sourceOf(error, request.method));
  void reply
    .headers(SECURITY_HEADERS)
    .status(problem.status)
    .type(PROBLEM_TYPE)
    .serializer(JSON.stringify)
    .send(problem);
}

const BROKEN: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** What came is no HTTP request, or came too slowly: there is a socket, but no reply to answer with. */
function answerBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const problem = problemOf(sourceOf({ statusCode: BROKEN[error.code ?? ''] ?? 400 }, 'GET'));
  socket.end(rawAnswer(problem));
}

function rawAnswer(problem: Problem): string {
  const body = JSON.stringify(problem);
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}
