import type { HoldpointEvent } from '#contracts/events';
import type { EndGrant } from '#contracts/grants/commands';
import { isGrantId, isSamePerson } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import { hasRole, type Caller } from '#contracts/roles';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { readGrant, type Grant } from '#fold/grant';

export interface Ending {
  readonly grant: Grant | undefined;
}

/** By whoever gave it, or an operator. What it approved and nobody used is taken back by the reaction. */
export function endGrant(
  { grantId, reason }: EndGrant,
  { grant }: Ending,
  { caller }: { readonly caller: Caller },
): Answer<HoldpointEvent, Refusal> {
  if (!grant) return refuse(refusal('not-found', 'There is no grant with this id'));
  if (!isSamePerson(grant.by, caller.subject) && !hasRole(caller, 'operator'))
    return refuse(refusal('forbidden', `Only ${grant.by} or an operator can end this grant`));
  if (grant.end) return nothingToDo;
  return accept({ type: 'GrantEnded', data: { grantId, ...(reason === undefined ? {} : { reason }) } });
}

export const ending: Rule<EndGrant, Ending, { readonly caller: Caller }> = {
  read: async (log, tenant, { grantId }) => ({
    grant: isGrantId(grantId) ? await readGrant(log, tenant, grantId) : undefined,
  }),
  decide: endGrant,
  correlate: ({ grantId }) => grantId,
};
