import type { Pool, ClientBase } from 'pg';
import type { HoldpointEvent } from '#contracts/events';
import { isApprovalId, isTurnKey, turnKeyOfApproval, type Tenant } from '#contracts/ids';
import { decodeFact } from '#event-log/codec';
import { CHECKPOINT, holdCheckpoint } from './checkpoint.js';
import { readCopies } from './event-copy.js';
import { readPolicies } from './policies.js';
import { project, type Projections } from './project.js';
import { inTransaction } from './transaction.js';
import { withClient } from './pools.js';

/** How many events were applied, and the last of them; none where nothing of this id was parked. */
export interface Unparked {
  readonly applied: number;
  readonly seq: number;
}

/** Applies what was parked of one id again, in the order of the log, all of it or nothing. Throws what still refuses it. */
export const unpark = (pool: Pool, projections: Projections, tenant: Tenant, id: string): Promise<Unparked> =>
  withClient(pool, (client) => inTransaction(client, () => unparkNow(client, projections, tenant, id)));

/** The checkpoint is held meanwhile, so that the projector parks nothing more behind the events that are applied. */
async function unparkNow(client: ClientBase, projections: Projections, tenant: Tenant, id: string): Promise<Unparked> {
  await holdCheckpoint(client);
  const seqs = await takeParked(client, tenant, await waitingTogether(client, tenant, id));
  const facts = (await readCopies(client, seqs)).map((raw) => decodeFact<HoldpointEvent>(raw));
  const policies = await readPolicies(client);
  for (const fact of facts) await project(client, projections, [{ fact, policies }]);
  return { applied: facts.length, seq: seqs.at(-1) ?? 0 };
}

/** Where the request of the whole turn is parked, its approvals waited for it: they are applied after it, with it. */
async function waitingTogether(client: ClientBase, tenant: Tenant, id: string): Promise<string> {
  const turnKey = isApprovalId(id) ? turnKeyOfApproval(id) : id;
  if (!isTurnKey(turnKey)) return id;
  const found = await client.query(
    'SELECT 1 FROM parked_events WHERE projection = $1 AND tenant = $2 AND id = $3 LIMIT 1',
    [CHECKPOINT, tenant, turnKey],
  );
  return found.rowCount === 0 ? id : turnKey;
}

async function takeParked(client: ClientBase, tenant: Tenant, id: string): Promise<number[]> {
  const family = isTurnKey(id) ? `ap_${id.slice(3)}_` : id;
  const taken = await client.query<{ seq: string }>(
    `DELETE FROM parked_events WHERE projection = $1 AND tenant = $2 AND (id = $3 OR starts_with(id, $4)) RETURNING seq`,
    [CHECKPOINT, tenant, id, family],
  );
  return taken.rows.map(({ seq }) => Number(seq)).sort((a, b) => a - b);
}
