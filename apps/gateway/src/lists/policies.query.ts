import type { Tenant } from '#contracts/ids';
import type { PolicyRule, Requirement } from '#contracts/policies/policy';
import { decodeCursor, isoOf, pageOf, Values, type Page, type Paging } from './page.js';
import type { Reader } from './read-model.js';

export interface PolicyItem {
  readonly version: number;
  readonly hash: string;
  readonly rules: readonly PolicyRule[];
  readonly default: Requirement;
  readonly publishedAt: string | null;
  readonly publishedBy: string;
  readonly seq: number;
}

interface PolicyRow {
  readonly version: number;
  readonly hash: string;
  readonly rules: readonly PolicyRule[];
  readonly otherwise: Requirement;
  readonly published_at: Date;
  readonly published_by: string;
  readonly seq: string;
}

/** The newest first: the first is in force for requests from now on. */
export async function listPolicies(
  reader: Reader,
  list: Paging & { readonly tenant: Tenant },
): Promise<Page<PolicyItem>> {
  const values = new Values();
  const tenant = values.next(list.tenant);
  const rows = await reader.query<PolicyRow>(
    `SELECT version, hash, rules, otherwise, published_at, published_by, seq::text FROM policies
      WHERE tenant = ${tenant}${before(list.cursor, values)} ORDER BY version DESC LIMIT ${values.next(list.limit + 1)}`,
    values.all,
  );
  return pageOf(rows, list.limit, {
    item: policyItem,
    position: ({ published_at, version }) => [published_at.toISOString(), String(version)],
  });
}

function before(cursor: string | undefined, { next }: Values): string {
  if (cursor === undefined) return '';
  const [, version] = decodeCursor(cursor);
  return ` AND version < ${next(Number.parseInt(version, 10) || 0)}`;
}

const policyItem = (row: PolicyRow): PolicyItem => ({
  version: row.version,
  hash: row.hash,
  rules: row.rules,
  default: row.otherwise,
  publishedAt: isoOf(row.published_at),
  publishedBy: row.published_by,
  seq: Number(row.seq),
});
