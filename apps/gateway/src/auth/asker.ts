import type { ServerResponse } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#contracts/roles';
import type { Credentials } from './credentials.js';

/** Who sent a request: who the token says it is, and what is passed on to the services that decide. */
export interface Asker {
  readonly caller: Caller;
  readonly credentials: Credentials;
}

const askers = new WeakMap<object, Asker>();

export const rememberAsker = (request: FastifyRequest, asker: Asker): void => void askers.set(request.raw, asker);

export function askerOf(request: FastifyRequest): Asker {
  const asker = askers.get(request.raw);
  if (!asker) throw new Error(`Nobody was asked for a token before ${request.routeOptions.url ?? 'a route'}`);
  return asker;
}

export const From = createParamDecorator((_: unknown, context: ExecutionContext) =>
  askerOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** Aborted when the client has gone, the answer is sent, or the gateway stops. */
export const Gone = createParamDecorator((_: unknown, context: ExecutionContext): AbortSignal => goneOf(context));

function goneOf(context: ExecutionContext): AbortSignal {
  const { server } = context.switchToHttp().getRequest<FastifyRequest>();
  const { raw } = context.switchToHttp().getResponse<FastifyReply>();
  const gone = new AbortController();
  const abort = () => gone.abort();
  server.stopping.addEventListener('abort', abort, { once: true });
  raw.once('close', () => {
    server.stopping.removeEventListener('abort', abort);
    abort();
  });
  if (server.stopping.aborted) abort();
  return gone.signal;
}

/** Who listens to a stream, and from where on. */
export interface Listener extends Asker {
  readonly signal: AbortSignal;
  readonly lastEventId: string | undefined;
  /** Takes the response over. What is thrown before anything is written still becomes a problem document. */
  readonly takeOver: () => ServerResponse;
}

export const Listening = createParamDecorator((_: unknown, context: ExecutionContext): Listener => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const reply = context.switchToHttp().getResponse<FastifyReply>();
  const lastEventId = request.headers['last-event-id'];
  return {
    ...askerOf(request),
    signal: goneOf(context),
    lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
    takeOver: () => reply.hijack().raw,
  };
});
