import type { ClientBase } from 'pg';

/** Told in the transaction that moves the checkpoint; the payload is the last sequence that can be read. */
export const PROJECTED_CHANNEL = 'holdpoint_projected';

export const READ_MODEL_TABLES = [
  'turns',
  'approvals',
  'due',
  'tokens',
  'attempts',
  'policies',
  'grants',
  'event_log',
  'parked_events',
  'projection_checkpoint',
] as const;

/** Empties the read model: the projector builds it again from the first fact, row for row. */
export async function wipe(client: ClientBase): Promise<void> {
  await client.query(`TRUNCATE ${READ_MODEL_TABLES.join(', ')}`);
  await client.query(`SELECT pg_notify('${PROJECTED_CHANNEL}', '0')`);
}
