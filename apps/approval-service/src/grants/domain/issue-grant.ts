import type { HoldpointEvent } from '#contracts/events';
import type { IssueGrant } from '#contracts/grants/commands';
import type { GrantIssued } from '#contracts/grants/events';
import type { GrantId, Instant, Tenant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import { accept, nothingToDo, refuse, type Answer } from '#decider/decider';
import type { Rule } from '#event-log/handle-command';
import { readGrant, type Grant } from '#fold/grant';
import type { FactReader } from '#fold/read';
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
  const wrong = conditionError(scope);
  if (wrong !== undefined) {
    const errors = [{ path: 'scope.when', message: wrong }];
    return refuse(refusal('invalid-input', `The grant is not valid: scope.when ${wrong}`, { errors }));
  }
  if (grant) return refuse(refusal('conflict', 'There is another grant under this id'));
  const terms = { grantId, scope, schemaDigest, ...boundsOf(body, now), groups: [...caller.groups] };
  return accept({ type: 'GrantIssued', data: terms });
}

/** The one that a decision carries, once. */
export const issueRemembered = (data: GrantIssued, { grant }: Issued): Answer<HoldpointEvent, never> =>
  grant ? nothingToDo : accept({ type: 'GrantIssued', data });

const onGrant = {
  read: async (log: FactReader, tenant: Tenant, { grantId }: { readonly grantId: GrantId }): Promise<Issued> => ({
    grant: await readGrant(log, tenant, grantId),
  }),
  correlate: ({ grantId }: { readonly grantId: GrantId }): string => grantId,
};

export const issuing: Rule<IssueNamed, Issued, { readonly caller: Caller }> = { ...onGrant, decide: issueGrant };
export const issuingRemembered: Rule<GrantIssued, Issued, object> = { ...onGrant, decide: issueRemembered };
