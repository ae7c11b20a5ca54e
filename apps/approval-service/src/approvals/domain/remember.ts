import type { DecideApproval } from '#contracts/approvals/commands';
import type { ToolApprovalDecided } from '#contracts/approvals/events';
import type { GrantScope } from '#contracts/grants/events';
import { grantIdOf, type Instant } from '#contracts/ids';
import type { Refusal } from '#contracts/refusals';
import type { Caller } from '#contracts/roles';
import type { RequestedToolCall } from '#contracts/turns/events';
import { boundsOf, conditionError, isInScope, schemaDigestOf } from '#policy/grants';
import { mayNotDecide } from '#policy/may-decide';
import type { ByCaller, KnownCall } from './call.js';
import { notValid } from './edit.js';

/** What is remembered is of this call's tool and server, and it must be a call of its own scope: nobody allows what they did not see. */
export function notRemembered({ remember }: DecideApproval, known: KnownCall, caller: Caller): Refusal | undefined {
  if (!remember) return undefined;
  const scope = onServerOf(known.call, remember.scope);
  const notAlone = mayNotDecide(known, caller, 'allow-others');
  if (notAlone) return notAlone;
  const wrong = conditionError(scope);
  if (wrong !== undefined) return notValid('remember.scope.when', wrong);
  if (isInScope(scope, known.turn.request, known.call)) return undefined;
  return notValid('remember.scope', 'must be one that this call is in');
}

/** Where none is named it is the server that was seen. */
const onServerOf = ({ server }: RequestedToolCall, scope: GrantScope): GrantScope =>
  server === undefined || scope.server !== undefined ? scope : { ...scope, server };

/** The grant that is given with the decision. */
export function rememberedOf(
  { approvalId, remember }: DecideApproval,
  { call }: KnownCall,
  { caller, now }: ByCaller & { readonly now: Instant },
): Pick<ToolApprovalDecided, 'remember'> {
  if (!remember) return {};
  return {
    remember: {
      grantId: grantIdOf(caller.tenant, approvalId),
      scope: onServerOf(call, remember.scope),
      schemaDigest: schemaDigestOf(call),
      ...boundsOf(remember, now),
      groups: [...caller.groups],
    },
  };
}
