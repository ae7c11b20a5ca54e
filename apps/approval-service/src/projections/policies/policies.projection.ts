import { canonicalJson } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { defineTable, type ChangeOf } from '#decider/projection';

/** Every version of every tenant's policy, for looking through; what is in force is read from the log. */
export const policies = defineTable({
  name: 'policies',
  key: ['tenant', 'version'],
  columns: {
    tenant: 'text',
    version: 'integer',
    hash: 'text',
    rules: 'json',
    otherwise: 'json',
    published_at: 'timestamptz',
    published_by: 'text',
    seq: 'bigint',
  },
});

export function projectPolicy({
  event,
  tenant,
  seq,
  occurredAt,
  actor,
}: Recorded<HoldpointEvent>): readonly ChangeOf<typeof policies>[] {
  if (event.type !== 'PolicyPublished') return [];
  const { version, hash, rules, default: otherwise } = event.data;
  const said = { hash, rules: canonicalJson(rules), otherwise: canonicalJson(otherwise) };
  const row = { tenant, version, ...said, published_at: occurredAt, published_by: actor.id, seq };
  return [{ kind: 'put', row }];
}
