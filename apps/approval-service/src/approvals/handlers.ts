import type { DecideApproval, RevokeApproval, UseApproval, WithdrawVote } from '#contracts/approvals/commands';
import { declined, reply, type Decided, type Done, type Reply } from '#contracts/rpc';
import { handleCommand, type Handled, type LogServices, type Request } from '#event-log/handle-command';
import type { ByCaller, CallState } from './domain/call.js';
import { deciding } from './domain/decide-approval.js';
import { revoking } from './domain/revoke-approval.js';
import { using } from './domain/use-approval.js';
import { withdrawing } from './domain/withdraw-vote.js';
import { recordRefusedTry, type RefusedTryServices } from './refused-tries.js';

type Asked<Command> = Request<Command, ByCaller>;

export async function decide(services: RefusedTryServices, request: Asked<DecideApproval>): Promise<Reply<Decided>> {
  const handled = await handleCommand(services, deciding, request);
  if (handled.kind !== 'refused')
    return reply({ verdict: handled.kind === 'recorded' ? 'counted' : 'duplicate', seq: seqOf(handled) });
  await recordRefusedTry(services, request, { tried: request.command.decision, refusal: handled.refusal });
  return declined({ ...handled.refusal, approvalId: request.command.approvalId });
}

export async function revoke(services: RefusedTryServices, request: Asked<RevokeApproval>): Promise<Reply<Done>> {
  const handled = await handleCommand(services, revoking, request);
  if (handled.kind === 'refused')
    await recordRefusedTry(services, request, { tried: 'revoke', refusal: handled.refusal });
  return doneReply(handled);
}

export const use = async (services: LogServices, request: Asked<UseApproval>): Promise<Reply<Done>> =>
  doneReply(await handleCommand(services, using, request));

export const withdraw = async (services: LogServices, request: Asked<WithdrawVote>): Promise<Reply<Done>> =>
  doneReply(await handleCommand(services, withdrawing, request));

const doneReply = (handled: Handled<CallState>): Reply<Done> =>
  handled.kind === 'refused'
    ? declined(handled.refusal)
    : reply({ seq: seqOf(handled), recorded: handled.kind === 'recorded' });

/** Of the fact that was written, or of the one that made writing needless. */
const seqOf = (handled: Exclude<Handled<CallState>, { kind: 'refused' }>): number =>
  handled.kind === 'recorded' ? handled.fact.seq : handled.state.approval.seq;
