import type { Instant, Tenant, TokenId } from './ids.js';
import type { Role } from './tokens/events.js';

/** Who asks, as the token says it: read from the log, never from a request's body. */
export interface Caller {
  readonly tenant: Tenant;
  readonly tokenId: TokenId;
  readonly subject: string;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
  readonly agent?: string;
  readonly owner?: string;
  readonly servers?: readonly string[];
  readonly pools?: readonly string[];
  readonly expiresAt?: Instant;
}

/** An admin has every role (contract section 2). */
export const hasRole = (caller: Caller, ...roles: readonly Role[]): boolean =>
  caller.roles.includes('admin') || roles.some((role) => caller.roles.includes(role));

/** A token that names no agent, server or pool speaks for any. */
export const speaksForAgent = (caller: Caller, agentId: string): boolean =>
  caller.agent === undefined || caller.agent === agentId;
export const mayUsePool = (caller: Caller, pool: string): boolean =>
  caller.pools === undefined || caller.pools.includes(pool);
export const mayUseServer = (caller: Caller, server: string | undefined): boolean =>
  caller.servers === undefined || (server !== undefined && caller.servers.includes(server));
