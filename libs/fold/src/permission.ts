import { isSamePerson } from '#contracts/ids';
import { hasRole, mayUsePool, speaksForAgent, type Caller } from '#contracts/roles';
import type { KnownTurn } from './turn.js';

/** An agent's token reaches the turns of its own agent in its own pools. */
export const isAgentOf = (caller: Caller, { request }: KnownTurn): boolean =>
  hasRole(caller, 'agent') && speaksForAgent(caller, request.agent.id) && mayUsePool(caller, request.pool);

/** The requester, the agent's owner and whoever it acts for may not approve or settle what they asked for themselves. */
export function isOwnRequest(subject: string, { request, requestedBy }: KnownTurn): boolean {
  const interested = [requestedBy, request.owner, request.agent.onBehalfOf].filter((one) => one !== undefined);
  return interested.some((one) => isSamePerson(one, subject));
}
