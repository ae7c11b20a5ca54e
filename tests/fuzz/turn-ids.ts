import { approvalIdOf, grantIdOf, turnKeyOf, type Tenant } from '#contracts/ids';

const TENANT = 'default' as Tenant;
const conversations = ['c-1', 'c-2', 'c-3', 'c-4'];
const turns = Array.from({ length: 25 }, (_, n) => `t-${n}`);
const turnKeys = conversations.flatMap((one) => turns.map((turn) => turnKeyOf(TENANT, one, turn)));

const approvalIds = turnKeys.flatMap((key) => [approvalIdOf(key, 0), approvalIdOf(key, 1)]);

/** A few ids that all campaigns use, so that requests generated apart mean the same turns. */
export const turnIds = {
  conversations,
  turns,
  turnKeys,
  approvalIds,
  /** Of what was remembered with a decision. */
  grantIds: approvalIds.map((id) => grantIdOf(TENANT, id)),
} as const;
