import type { ClientBase } from 'pg';
import type { HoldpointEvent } from '#contracts/events';
import { decodeFact } from '#event-log/codec';
import { evolvePolicies, NO_POLICIES, type Policies } from '#policy/in-force';
import { readCopies } from './event-copy.js';

/** Every version that the copy of the log has: what requests from there on are judged by. */
export async function readPolicies(client: ClientBase): Promise<Policies> {
  const found = await client.query<{ seq: string }>(`SELECT seq FROM event_log WHERE type = 'PolicyPublished'`);
  const copies = await readCopies(
    client,
    found.rows.map(({ seq }) => Number(seq)),
  );
  return copies.map((raw) => decodeFact<HoldpointEvent>(raw)).reduce(evolvePolicies, NO_POLICIES);
}
