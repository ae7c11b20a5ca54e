import type { GrantScope } from '#contracts/grants/events';
import type { ApprovalId, GrantId, Instant, Tenant } from '#contracts/ids';
import { grantStatus, type GrantStatus } from '#fold/grant';
import { decodeCursor, pageOf, Values, type Page, type Paging } from './page.js';
import type { Reader } from './read-model.js';

export interface GrantItem {
  readonly grantId: GrantId;
  readonly scope: GrantScope;
  readonly schemaDigest: string;
  readonly status: GrantStatus;
  readonly used: number;
  readonly maxUses: number;
  readonly issuedBy: string;
  readonly issuedAt: string;
  readonly expiresAt: string;
  /** The decision that it was remembered with. */
  readonly approvalId: ApprovalId | null;
  readonly end: { readonly by: string; readonly at: string; readonly reason?: string } | null;
  readonly seq: number;
}

interface GrantRow {
  readonly grant_id: GrantId;
  readonly tool: string;
  readonly server: string | null;
  readonly agent: string | null;
  readonly conversation_id: string | null;
  readonly condition: string | null;
  readonly schema_digest: string;
  readonly used: number;
  readonly max_uses: number;
  readonly issued_by: string;
  readonly issued_at: Date;
  readonly expires_at: Date;
  readonly approval_id: ApprovalId | null;
  readonly ended_by: string | null;
  readonly ended_at: Date | null;
  readonly end_reason: string | null;
  readonly seq: string;
}

/** The newest first. */
export async function listGrants(
  reader: Reader,
  list: Paging & { readonly tenant: Tenant; readonly now: Instant },
): Promise<Page<GrantItem>> {
  const values = new Values();
  const tenant = values.next(list.tenant);
  const rows = await reader.query<GrantRow>(
    `SELECT grant_id, tool, server, agent, conversation_id, condition, schema_digest, used, max_uses, issued_by, issued_at,
        expires_at, approval_id, ended_by, ended_at, end_reason, seq::text FROM grants
      WHERE tenant = ${tenant} AND issued_at IS NOT NULL${before(list.cursor, values)}
      ORDER BY issued_at DESC, grant_id DESC LIMIT ${values.next(list.limit + 1)}`,
    values.all,
  );
  return pageOf(rows, list.limit, {
    item: (row) => grantItem(row, list.now),
    position: (row) => [row.issued_at.toISOString(), row.grant_id],
  });
}

function before(cursor: string | undefined, { next }: Values): string {
  if (cursor === undefined) return '';
  const [at, id] = decodeCursor(cursor);
  return ` AND (issued_at, grant_id) < (${next(at)}::timestamptz, ${next(id)})`;
}

const grantItem = (row: GrantRow, now: Instant): GrantItem => ({
  grantId: row.grant_id,
  scope: scopeOf(row),
  schemaDigest: row.schema_digest,
  status: grantStatus(
    {
      ...(row.ended_at ? { end: row.ended_at } : {}),
      used: row.used,
      maxUses: row.max_uses,
      expiresAt: row.expires_at.toISOString() as Instant,
    },
    now,
  ),
  used: row.used,
  maxUses: row.max_uses,
  issuedBy: row.issued_by,
  issuedAt: row.issued_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  approvalId: row.approval_id,
  end: endOf(row),
  seq: Number(row.seq),
});

const endOf = ({ ended_by: by, ended_at: at, end_reason: reason }: GrantRow): GrantItem['end'] =>
  by === null || at === null ? null : { by, at: at.toISOString(), ...(reason === null ? {} : { reason }) };

const scopeOf = ({ tool, server, agent, conversation_id: conversationId, condition: when }: GrantRow): GrantScope => ({
  tool,
  ...(server === null ? {} : { server }),
  ...(agent === null ? {} : { agent }),
  ...(conversationId === null ? {} : { conversationId }),
  ...(when === null ? {} : { when }),
});
