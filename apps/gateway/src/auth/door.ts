import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasRole, type Caller } from '#contracts/roles';
import type { Role } from '#contracts/tokens/events';
import { ADMIN_TOKEN_ID, type Callers } from '#service/callers';
import { checkInput } from '../http/check-input.js';
import { routeOf } from '../http/on.js';
import { refused } from '../http/problem.js';
import type { Route } from '../http/route.js';
import { methodsAt } from '../http/routes.js';
import { rememberAsker } from './asker.js';
import { credentialsOf, type Credentials } from './credentials.js';
import type { RateLimit } from './rate-limit.js';

/** In hooks and not in a guard: whoever may not come in has no body read and nothing parsed. */
export function guardDoor(server: FastifyInstance, callers: Callers, rateLimit: RateLimit): void {
  server.addHook('onRequest', async (request, reply) => {
    if (request.is404) return answerOtherMethod(request, reply);
    const route = routeOf(request);
    if (route && route.roles !== 'open') await admit(request, reply, { callers, rateLimit, roles: route.roles });
    if (route?.stream && request.method === 'HEAD') return reply.type('text/event-stream').send('');
    return undefined;
  });
  server.addHook('preHandler', (request, _reply, done) => {
    const route: Route | undefined = routeOf(request);
    if (route) checkInput(request, route);
    done();
  });
}

interface Door {
  readonly callers: Callers;
  readonly rateLimit: RateLimit;
  readonly roles: readonly Role[];
}

async function admit(request: FastifyRequest, reply: FastifyReply, { callers, rateLimit, roles }: Door): Promise<void> {
  const credentials = credentialsOf(request.headers);
  const caller = await callers.identify(credentials.token, credentials.tenant);
  if (!caller) throw refused('unauthenticated', 'The token is unknown, expired or revoked');
  const waitSeconds = rateLimit.take(caller.tokenId);
  if (waitSeconds > 0) {
    void reply.header('retry-after', String(waitSeconds));
    throw refused('rate-limited', `This token has used up its requests; try again in ${waitSeconds} s`);
  }
  checkTenant(caller, credentials);
  if (roles.length > 0 && !hasRole(caller, ...roles))
    throw refused('forbidden', `This needs the role ${roles.join(' or ')}`);
  rememberAsker(request, { caller, credentials });
}

/** The admin token alone may choose; to everybody else a tenant is a wall. */
function checkTenant({ tokenId, tenant }: Caller, credentials: Credentials): void {
  if (tokenId === ADMIN_TOKEN_ID || credentials.tenant === undefined || credentials.tenant === tenant) return;
  throw refused('forbidden', 'This token belongs to another tenant');
}

function answerOtherMethod(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [pathname = ''] = request.url.split('?');
  const methods = methodsAt(pathname);
  if (methods.length === 0) throw refused('not-found', 'There is nothing at this address');
  void reply.header('allow', [...methods, 'OPTIONS'].join(', '));
  if (request.method === 'OPTIONS') return reply.code(204).send();
  throw refused('method-not-allowed', `This address takes ${methods.join(', ')}`);
}
