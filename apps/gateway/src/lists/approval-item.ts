import type { ApprovalId } from '#contracts/ids';
import type { ApprovalStatus } from '#contracts/statuses';
import { redact } from '#service/redact';
import { statusSql } from './approval-status.js';
import { isoOf } from './page.js';

/** An approval as lists show it: secrets redacted; whoever may decide reads it whole by its id. */
export interface ApprovalItem {
  readonly approvalId: ApprovalId;
  readonly turnId: string;
  readonly conversationId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly server: string | null;
  readonly agent: { readonly id: string };
  readonly argsDigest: string;
  /** Null where they are too long for a list. */
  readonly args: unknown;
  readonly argsOmitted: boolean;
  readonly description: string | null;
  readonly status: ApprovalStatus;
  readonly requestedAt: string;
  readonly expiresAt: string;
  readonly decision: { readonly decision: string; readonly by: string; readonly at: string } | null;
  readonly seq: number;
}

export interface ApprovalRow {
  readonly approval_id: ApprovalId;
  readonly turn_id: string;
  readonly conversation_id: string;
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly server: string | null;
  readonly agent: string;
  readonly args_digest: string;
  readonly args: unknown;
  readonly description: string | null;
  readonly status: ApprovalStatus;
  readonly requested_at: Date;
  readonly expires_at: Date;
  readonly decision: string | null;
  readonly decided_by: string | null;
  readonly decided_at: Date | null;
  readonly seq: string;
}

/** Bytes of arguments that a list shows: two hundred items stay within a few megabytes. */
const LONGEST_ARGS = 32_768;

export const approvalColumns = (now: string): string => `a.approval_id, a.turn_id, a.conversation_id, a.tool_call_id,
    a.tool_name, a.server, a.agent, a.args_digest, a.requested_at, a.expires_at, a.decision, a.decided_by, a.decided_at,
    CASE WHEN octet_length(a.args::text) <= ${LONGEST_ARGS} THEN a.args END AS args, a.description, a.seq::text,
    ${statusSql(now)} AS status`;

export const approvalItem = (row: ApprovalRow): ApprovalItem => ({
  approvalId: row.approval_id,
  turnId: row.turn_id,
  conversationId: row.conversation_id,
  toolCallId: row.tool_call_id,
  toolName: row.tool_name,
  server: row.server,
  agent: { id: row.agent },
  argsDigest: row.args_digest,
  args: redact(row.args),
  argsOmitted: row.args === null,
  description: row.description === null ? null : String(redact(row.description)),
  status: row.status,
  requestedAt: row.requested_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  decision: decisionOf(row),
  seq: Number(row.seq),
});

function decisionOf({ decision, decided_by: by, decided_at }: ApprovalRow): ApprovalItem['decision'] {
  const at = isoOf(decided_at);
  return decision === null || by === null || at === null ? null : { decision, by, at };
}
