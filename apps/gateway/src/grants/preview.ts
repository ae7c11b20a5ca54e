import { indexOfApproval, turnKeyOfApproval, type ApprovalId, type Instant } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import { readTurn, type FactReader } from '#fold/read';
import type { PoliciesInForce } from '#policy/in-force';
import { covers, type Allowing } from '#policy/grants';
import { ruleOn } from '#policy/ruling';

/** Which of the newest calls a grant would have approved. */
export interface Preview {
  readonly of: number;
  readonly matched: number;
  readonly items: readonly PreviewItem[];
}

export interface PreviewItem {
  readonly approvalId: ApprovalId;
  readonly conversationId: string;
  readonly agent: string;
  readonly requestedAt: Instant;
}

interface Looking {
  readonly log: FactReader;
  readonly policies: PoliciesInForce;
}

/** Each call is judged as it would have been: by the log, and the policy of its own place. */
export async function previewOf(
  { log, policies }: Looking,
  { tenant }: Caller,
  grant: Allowing,
  calls: readonly ApprovalId[],
): Promise<Preview> {
  const looked = await Promise.all(
    calls.map(async (approvalId) => {
      const turn = await readTurn(log, tenant, turnKeyOfApproval(approvalId));
      if (turn.state === 'unknown') return [];
      const call = turn.request.toolCalls[indexOfApproval(approvalId)];
      const policy = await policies.at(tenant, turn.requestSeq);
      if (!call || !covers(grant, { turn, call, ruling: ruleOn(policy, turn.request, call) })) return [];
      const { conversationId, agent } = turn.request;
      return [{ approvalId, conversationId, agent: agent.id, requestedAt: turn.requestedAt }];
    }),
  );
  const items = looked.flat();
  return { of: calls.length, matched: items.length, items };
}
