import type { IncomingHttpHeaders } from 'node:http';
import { isTenant } from '#contracts/ids';
import type { Ask } from '#contracts/rpc';
import { invalid, refused } from '../http/problem.js';

/** What is passed on to the deciding services, so that they check it themselves. */
export type Credentials = Omit<Ask, 'body'>;

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  const [, token] = BEARER.exec(headers.authorization ?? '') ?? [];
  if (token === undefined) throw refused('unauthenticated', 'Send a token: Authorization: Bearer <token>');
  return { token, ...tenantOf(headers), ...idempotencyKeyOf(headers), ...traceOf(headers) };
}

function tenantOf(headers: IncomingHttpHeaders): Pick<Credentials, 'tenant'> {
  const tenant = headers['holdpoint-tenant'];
  if (tenant === undefined) return {};
  if (typeof tenant !== 'string' || !isTenant(tenant))
    throw invalid('Holdpoint-Tenant', 'must begin with a letter or digit; letters, digits, "_" and "-" only');
  return { tenant };
}

function idempotencyKeyOf(headers: IncomingHttpHeaders): Pick<Credentials, 'idempotencyKey'> {
  const key = headers['idempotency-key'];
  if (key === undefined) return {};
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key))
    throw invalid('Idempotency-Key', 'must be 1 to 255 visible ASCII characters without a space');
  return { idempotencyKey: key };
}

/** One that is not valid is ignored, as its standard says. */
function traceOf(headers: IncomingHttpHeaders): Pick<Credentials, 'traceparent'> {
  const trace = headers['traceparent'];
  return typeof trace === 'string' && TRACEPARENT.test(trace) ? { traceparent: trace } : {};
}
