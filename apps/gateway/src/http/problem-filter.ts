import { HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '#service/logger';
import { Unavailable } from '#decider/unavailable';
import {
  problemOf,
  PROBLEM_TYPE,
  PROBLEMS,
  Refused,
  type Problem,
  type ProblemName,
  type ProblemSource,
} from './problem.js';

/** The only place where an exception becomes an answer: refusals as they are, Fastify's own errors by status, the rest 500 and logged. */
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const source = sourceOf(error, request.method);
    if (source.reason === 'internal')
      this.logger.error({ err: error, method: request.method, route: request.routeOptions?.url }, 'request failed');
    if (reply.sent || reply.raw.headersSent) return answerRaw(reply, problemOf(source));
    if (source.reason === 'unauthenticated') void reply.header('www-authenticate', 'Bearer realm="holdpoint"');
    if (source.reason === 'unavailable' && !reply.hasHeader('retry-after')) void reply.header('retry-after', '1');
    const problem = problemOf(source);
    void reply.status(problem.status).type(PROBLEM_TYPE).serializer(JSON.stringify).send(problem);
  }
}

/** A stream has taken the response over: while nothing is written there is an answer, after that only an end. */
function answerRaw({ raw }: FastifyReply, problem: Problem): void {
  if (raw.headersSent) return void raw.destroy();
  raw.writeHead(problem.status, { 'content-type': PROBLEM_TYPE }).end(JSON.stringify(problem));
}

const BY_STATUS: Readonly<Record<number, readonly [ProblemName, string]>> = {
  400: ['invalid-input', 'The request could not be read: its address, headers or length are malformed'],
  404: ['not-found', 'There is nothing at this address'],
  405: ['method-not-allowed', 'This address does not take that method'],
  408: ['timeout', 'The request did not arrive in time'],
  413: ['too-large', 'The body may be 1 MiB at most'],
  414: ['invalid-input', 'The address is too long'],
  415: ['unsupported-media-type', 'The body must be application/json in UTF-8'],
  431: ['headers-too-large', 'The headers are too large'],
  503: ['unavailable', 'Holdpoint is stopping'],
};

/** Why it went wrong, as far as the client is concerned. What a write came to is never said to be certain after an outage. */
export function sourceOf(error: unknown, method: string): ProblemSource {
  if (error instanceof Refused) return error.refusal;
  const mayHaveWritten = method === 'GET' || method === 'HEAD' ? {} : { recorded: 'unknown' as const };
  if (error instanceof Unavailable) return { reason: 'unavailable', detail: error.message, ...mayHaveWritten };
  const [reason, detail] = BY_STATUS[statusOf(error)] ?? [
    'internal',
    "The request failed for a reason that is not the caller's; it has been logged",
  ];
  return { reason, detail };
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : PROBLEMS.internal.status;
}
