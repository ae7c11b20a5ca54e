import type { ApprovalId, Tenant } from '#contracts/ids';
import { Values } from './page.js';
import type { Reader } from './read-model.js';

/** The same name on another server is another tool; none named is one of its own. */
export interface ToolName {
  readonly tool: string;
  readonly server?: string;
}

interface Asked {
  readonly tenant: Tenant;
  readonly most: number;
  readonly tool?: ToolName;
}

/** The newest calls that are on record, the newest first. */
export async function newestCalls(reader: Reader, { tenant, most, tool }: Asked): Promise<readonly ApprovalId[]> {
  const values = new Values();
  const isTool = tool
    ? ` AND tool_name = ${values.next(tool.tool)} AND server IS NOT DISTINCT FROM ${values.next(tool.server ?? null)}`
    : '';
  const rows = await reader.query<{ id: ApprovalId }>(
    `SELECT approval_id AS id FROM approvals
      WHERE tenant = ${values.next(tenant)} AND requested_at IS NOT NULL${isTool}
      ORDER BY requested_at DESC, turn_key DESC, call_index DESC LIMIT ${values.next(most)}`,
    values.all,
  );
  return rows.map(({ id }) => id);
}
