import { shortDigest, type Tenant } from '#contracts/ids';
import { EPOCH } from '#contracts/subjects';

const everyTenant = (rest: string) => `hp.v1.${EPOCH}.*.*.${rest}`;

/** The standing subscriptions of the services on EVENTS, made by the bootstrap alone, and what each is given. */
export const DURABLES = {
  /** `supersedes` → cancel. */
  orchestrator: [everyTenant('req')],
  /** requested → policy, voted → decide. */
  policies: [everyTenant('req'), everyTenant('step.*')],
  /** requested → what was said before of calls like these. */
  precedents: [everyTenant('req')],
  /** decided → the grant that it carries. */
  remembered: [everyTenant('dec')],
  /** ended → take back what it approved. */
  grants: [everyTenant('over')],
  /** ended → close. */
  approvals: [everyTenant('end')],
  /** decided, revoked, lapsed, reported → continue. */
  gateway: [everyTenant('dec'), everyTenant('use'), everyTenant('out')],
} as const satisfies Record<string, readonly string[]>;
export type DurableName = keyof typeof DURABLES;

/** After so long a delivery is given to another, unless it is said to be worked on. */
export const ACK_WAIT_MS = 10_000;

/** Positioned by the projector itself, from the checkpoint kept in Postgres: nothing is acknowledged. */
export const PROJECTOR = 'projector';

/** One durable a tenant and pool on COMMANDS, made by the orchestrator at the first open or pull. */
export const poolDurable = (tenant: Tenant, pool: string): string => `pool_${shortDigest('pool', tenant, pool)}`;
