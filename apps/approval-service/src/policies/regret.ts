import { indexOfApproval, turnKeyOfApproval, type ApprovalId, type Tenant } from '#contracts/ids';
import type { PublishPolicy } from '#contracts/policies/commands';
import { subjects } from '#contracts/subjects';
import { Unavailable } from '#decider/unavailable';
import type { FactReader } from '#fold/read';
import { compilePolicy, type CompiledPolicy } from '#policy/compiled';
import { ruleOn } from '#policy/ruling';
import type { ReadDenials } from '../projections/approvals/denials.query.js';

/** Denials that a draft is held against: the newest; a simulation tells of all. */
const MOST_DENIALS = 1_000;
const AT_ONCE = 32;

interface Recalled {
  readonly log: FactReader;
  readonly denials: ReadDenials;
}

/** Calls that a person denied and this policy would approve without one. What was denied is found in the read model, and read from the log. */
export async function regretOf(
  { log, denials }: Recalled,
  tenant: Tenant,
  draft: PublishPolicy,
): Promise<ApprovalId[]> {
  if (!draft.rules.some(({ then }) => then === 'approve')) return [];
  const compiled = compilePolicy(0, draft);
  const denied = await denials(tenant, MOST_DENIALS).catch((error: unknown) => {
    const why = 'What was denied before cannot be read now; with acknowledgeRegret it is not looked at';
    throw new Unavailable(why, { cause: error });
  });
  const regretted: ApprovalId[] = [];
  for (let at = 0; at < denied.length; at += AT_ONCE) {
    const some = denied.slice(at, at + AT_ONCE);
    const approved = await Promise.all(some.map((id) => isApprovedBy(compiled, log, tenant, id)));
    regretted.push(...some.filter((_, index) => approved[index]));
  }
  return regretted;
}

async function isApprovedBy(policy: CompiledPolicy, log: FactReader, tenant: Tenant, id: ApprovalId): Promise<boolean> {
  const requested = await log.last(subjects.request(tenant, turnKeyOfApproval(id)));
  if (requested?.event.type !== 'ToolApprovalRequested') return false;
  const call = requested.event.data.toolCalls[indexOfApproval(id)];
  return call !== undefined && ruleOn(policy, requested.event.data, call).effect === 'approve';
}
