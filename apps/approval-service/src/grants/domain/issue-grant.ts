import type { HoldpointEvent } from '#contracts/events';
import type { IssueGrant } from '#contracts/grants/commands';
import type { GrantIssued } from '#contracts/grants/events';
import type { GrantId, Instant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { readGrant, type Grant } from '#fold/grant';
import { boundsOf, conditionError } from '#policy/grants';

/** A grant that somebody asks for by itself; `grantId` is made before the first try. */
export interface IssueNamed {
  readonly body: IssueGrant;
  readonly grantId: GrantId;
}

interface Issued {
  readonly grant: Grant | undefined;
}

type Context = { readonly caller: Caller; readonly now: Instant };

/** A standing decision. What it allows is judged at each call: no more than its grantor could have approved alone. */
export function issueGrant(
  { body, grantId }: IssueNamed,
  { grant }: Issued,
  { caller, now }: Context,
): Answer<HoldpointEvent, Refusal> {
  const { scope, schemaDigest } = body;
  const wrong = scope.when === undefined ? undefined : conditionError(scope.when);
  const errors = [{ path: 'scope.when', message: wrong ?? '' }];
  if (wrong !== undefined)
    return refuse(refusal('invalid-input', `The grant is not valid: scope.when ${wrong}`, { errors }));
  if (grant) return refuse(refusal('conflict', 'There is another grant under this id'));
  const terms = { grantId, scope, schemaDigest, ...boundsOf(body, now), groups: [...caller.groups] };
  return accept({ type: 'GrantIssued', data: terms });
}

/** The one that a decision carries, once. */
export const issueRemembered = (data: GrantIssued, { grant }: Issued): Answer<HoldpointEvent, never> =>
  grant ? nothingToDo : accept({ type: 'GrantIssued', data });

export const issuing: Rule<IssueNamed, Issued, { readonly caller: Caller }> = {
  read: async (log, tenant, { grantId }) => ({ grant: await readGrant(log, tenant, grantId) }),
  decide: issueGrant,
  correlate: ({ grantId }) => grantId,
};

export const issuingRemembered: Rule<GrantIssued, Issued, object> = {
  read: async (log, tenant, { grantId }) => ({ grant: await readGrant(log, tenant, grantId) }),
  decide: issueRemembered,
  correlate: ({ grantId }) => grantId,
};
