import { canonicalJson } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { GrantIssued } from '#contracts/grants/events';
import type { GrantId } from '#contracts/ids';
import { defineTable, type ChangeOf, type Row } from '#decider/projection';

/** Standing decisions, for looking through and for finding those that a call may be of; what one allows is read from the log. */
export const grants = defineTable({
  name: 'grants',
  key: ['tenant', 'grant_id'],
  columns: {
    tenant: 'text',
    grant_id: 'text',
    tool: 'text',
    server: 'text',
    agent: 'text',
    conversation_id: 'text',
    condition: 'json',
    schema_digest: 'text',
    approval_id: 'text',
    expires_at: 'timestamptz',
    max_uses: 'integer',
    used: 'integer',
    issued_at: 'timestamptz',
    issued_by: 'text',
    issued_seq: 'bigint',
    ended_at: 'timestamptz',
    ended_by: 'text',
    end_reason: 'json',
    seq: 'bigint',
  },
});
type Changes = readonly ChangeOf<typeof grants>[];
type Columns = Omit<Row<typeof grants>, 'tenant' | 'grant_id' | 'seq'>;

export function projectGrant(fact: Recorded<HoldpointEvent>): Changes {
  const { event, occurredAt, actor } = fact;
  if (event.type === 'GrantIssued') return put(fact, event.data.grantId, issued(fact, event.data));
  if (event.type === 'GrantRedeemed') return put(fact, event.data.grantId, { used: event.data.n });
  if (event.type !== 'GrantEnded') return [];
  const { grantId, reason } = event.data;
  return put(fact, grantId, { ended_at: occurredAt, ended_by: actor.id, end_reason: json(reason) });
}

const put = ({ tenant, seq }: Recorded, id: GrantId, columns: Columns): Changes => [
  { kind: 'put', row: { tenant, grant_id: id, ...columns, seq } },
];

const json = (value: unknown): string | undefined => (value === undefined ? undefined : canonicalJson(value));

const issued = ({ actor, occurredAt, seq }: Recorded, data: GrantIssued): Columns => ({
  tool: data.scope.tool,
  server: data.scope.server,
  agent: data.scope.agent,
  conversation_id: data.scope.conversationId,
  condition: json(data.scope.when),
  schema_digest: data.schemaDigest,
  approval_id: data.approvalId,
  expires_at: data.expiresAt,
  max_uses: data.maxUses,
  used: 0,
  issued_at: occurredAt,
  issued_by: actor.id,
  issued_seq: seq,
});
