import type { Tenant, TokenId } from '#contracts/ids';
import { decodeCursor, isoOf, pageOf, Values, type Page, type Paging } from './page.js';
import type { Reader } from './read-model.js';

export interface TokenItem {
  readonly id: TokenId;
  readonly name: string;
  readonly subject: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly agent: string | null;
  readonly owner: string | null;
  /** Null: any. */
  readonly servers: readonly string[] | null;
  readonly pools: readonly string[] | null;
  readonly tenant: Tenant;
  readonly expiresAt: string | null;
  readonly issuedAt: string;
  readonly issuedBy: string;
  readonly revokedAt: string | null;
  readonly revokedBy: string | null;
  readonly seq: number;
}

interface TokenRow {
  readonly token_id: TokenId;
  readonly tenant: Tenant;
  readonly name: string;
  readonly subject: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[] | null;
  readonly agent: string | null;
  readonly owner: string | null;
  readonly servers: readonly string[] | null;
  readonly pools: readonly string[] | null;
  readonly expires_at: Date | null;
  readonly issued_at: Date;
  readonly issued_by: string;
  readonly revoked_at: Date | null;
  readonly revoked_by: string | null;
  readonly seq: string;
}

/** Oldest first; never a secret, nor its hash. */
export async function listTokens(reader: Reader, list: Paging & { readonly tenant: Tenant }): Promise<Page<TokenItem>> {
  const values = new Values();
  const tenant = values.next(list.tenant);
  const rows = await reader.query<TokenRow>(
    `SELECT token_id, tenant, name, subject, roles, groups, agent, owner, servers, pools, expires_at, issued_at, issued_by,
        revoked_at, revoked_by, seq::text FROM tokens
      WHERE tenant = ${tenant} AND issued_at IS NOT NULL${after(list.cursor, values)}
      ORDER BY issued_at, token_id LIMIT ${values.next(list.limit + 1)}`,
    values.all,
  );
  return pageOf(rows, list.limit, { item: tokenItem, position: (row) => [row.issued_at.toISOString(), row.token_id] });
}

function after(cursor: string | undefined, { next }: Values): string {
  if (cursor === undefined) return '';
  const [at, id] = decodeCursor(cursor);
  return ` AND (issued_at, token_id) > (${next(at)}::timestamptz, ${next(id)})`;
}

const tokenItem = (row: TokenRow): TokenItem => ({
  id: row.token_id,
  name: row.name,
  subject: row.subject,
  roles: row.roles,
  groups: row.groups ?? [],
  agent: row.agent,
  owner: row.owner,
  servers: row.servers,
  pools: row.pools,
  tenant: row.tenant,
  expiresAt: isoOf(row.expires_at),
  issuedAt: row.issued_at.toISOString(),
  issuedBy: row.issued_by,
  revokedAt: isoOf(row.revoked_at),
  revokedBy: row.revoked_by,
  seq: Number(row.seq),
});
