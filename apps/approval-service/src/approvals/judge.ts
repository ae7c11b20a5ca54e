import type { Actor } from '#contracts/envelope';
import type { Tenant } from '#contracts/ids';
import { handleCommand, type Handled, type Request } from '#event-log/handle-command';
import { closingOf } from '#fold/closing';
import { lastWord } from '#policy/tally';
import type { JudgingServices } from './approval-services.js';
import { applyingPolicy } from './domain/apply-policy.js';
import {
  asPolicy,
  isForPolicy,
  knownCall,
  readCall,
  type AboutCall,
  type CallRule,
  type CallState,
} from './domain/call.js';
import { concluding } from './domain/conclude-votes.js';

/**
 * Every command on an approval: where the policy decides it and that is not in the log yet, that is recorded first, so that
 * nobody is quicker than the policy (design 4.2); and where votes have closed it, the decision that follows.
 */
export async function judge<Command extends AboutCall, Context>(
  services: JudgingServices,
  judged: CallRule<Command, Context>,
  request: Request<Command, Context>,
): Promise<Handled<CallState>> {
  const { tenant, command, causationId } = request;
  const handled = await handleCommand(services, judged(services.policies), request);
  if (handled.kind === 'recorded') return handled;
  const about = { tenant, command: { approvalId: command.approvalId }, causationId };
  const first = isLeftToPolicy(about.command, handled.state)
    ? await applyPolicy(services, about)
    : await conclude(services, about, handled.state);
  return first ? handleCommand(services, judged(services.policies), request) : handled;
}

interface About {
  readonly tenant: Tenant;
  readonly command: AboutCall;
  readonly causationId: string;
}

function isLeftToPolicy(command: AboutCall, state: CallState): boolean {
  const known = knownCall(command, state);
  return known !== undefined && isForPolicy(known);
}

/** Whether something was recorded that was not there. */
export async function applyPolicy(services: JudgingServices, about: About): Promise<boolean> {
  const actor = asPolicy('reaction:requested');
  const handled = await handleCommand(services, applyingPolicy(services.policies), { ...about, actor, context: {} });
  return handled.kind === 'recorded' || handled.state.approval.decision !== undefined;
}

/** Writes the decision that the votes have come to, in the name of whoever cast the last of them. */
export async function conclude(services: JudgingServices, about: About, seen?: CallState): Promise<boolean> {
  const { tenant, command } = about;
  const state = seen ?? (await readCall(services.policies)(services.log, tenant, command));
  const known = knownCall(command, state);
  const closing = closingOf(state.approval.steps);
  if (!known || known.approval.decision || !closing || closing.heldUntil !== undefined) return false;
  const actor: Actor = { kind: 'person', id: lastWord(closing, known).by, via: 'reaction:votes' };
  const handled = await handleCommand(services, concluding(services.policies), { ...about, actor, context: {} });
  return handled.kind === 'recorded' || handled.state.approval.decision !== undefined;
}
