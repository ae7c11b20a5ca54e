import type { FastifyRequest } from 'fastify';
import { CALLER_ID, isApprovalId, isGrantId, isTokenId, isTurnKey } from '#contracts/ids';
import { parse, type FieldError, type Parsed } from '#contracts/parse';
import { invalid, refused } from './problem.js';
import type { Route } from './route.js';

type Shape = new () => object;

/** Everything of a request is checked against its route before a handler sees it: path, query, body. */
export function checkInput(request: FastifyRequest, route: Route): void {
  checkPath(request.params as Record<string, string>);
  request.query = checkQuery(route.query, request.query as Record<string, unknown>);
  request.body = checkBody(route.body, request.body);
}

/** Ids that Holdpoint makes: one of another form is an id of nothing. */
const MADE: Readonly<Record<string, (text: string) => boolean>> = {
  approvalId: isApprovalId,
  leaseId: (text) => isTurnKey(text) || isApprovalId(text),
  tokenId: isTokenId,
  grantId: isGrantId,
  /** Events are parked by what they are about. */
  parkedId: (text) => [isTurnKey, isApprovalId, isTokenId, isGrantId].some((is) => is(text)),
};

export function checkPath(params: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(params)) {
    if (!CALLER_ID.test(text)) throw invalid(name, 'must be 1 to 128 letters, digits, "_" or "-"');
    if (MADE[name]?.(text) === false) throw refused('not-found', `There is no ${name} ${text}`);
  }
}

/** Without a shape nothing may be asked for. */
export function checkQuery(shape: Shape | undefined, query: Readonly<Record<string, unknown>>): object {
  const [unknown] = Object.keys(query);
  if (shape) return valid(parse(shape, withNumbers(shape, query)), 'The query is not valid');
  if (unknown !== undefined) throw invalid(unknown, 'is not a parameter of this request');
  return {};
}

const WHOLE = /^(0|[1-9]\d{0,15})$/;

/** A query is text: where the contract wants a number, a whole number's text is one. */
function withNumbers(shape: Shape, query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(query).map(([name, text]): [string, unknown] => {
    const wanted: unknown = Reflect.getMetadata('design:type', shape.prototype as object, name);
    return [name, wanted === Number && typeof text === 'string' && WHOLE.test(text) ? Number(text) : text];
  });
  return Object.fromEntries(entries);
}

/** Where a route wants no body, an empty object is as good as none; where it needs nothing of one, none is as good as an empty one. */
export function checkBody(shape: Shape | undefined, body: unknown): unknown {
  const needsNone = shape && body === undefined && parse(shape, {}).ok;
  if (shape) return valid(parse(shape, needsNone ? {} : body), 'The body is not valid');
  const isEmpty = body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0);
  if (!isEmpty) throw invalid('', 'this request takes no body');
  return undefined;
}

function valid(parsed: Parsed<object>, whole: string): object {
  if (parsed.ok) return parsed.value;
  throw refused('invalid-input', `${whole}: ${sentence(parsed.errors)}`, { errors: parsed.errors });
}

const sentence = (errors: readonly FieldError[]): string =>
  errors
    .slice(0, 3)
    .map(({ path, message }) => `${path} ${message}`.trim())
    .join('; ');
