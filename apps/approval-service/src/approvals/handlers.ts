import type { DecideApproval, RevokeApproval, UseApproval, WithdrawVote } from '#contracts/approvals/commands';
import { refusal } from '#contracts/refusals';
import { declined, reply, type Decided, type Done, type Reply } from '#contracts/rpc';
import type { Handled, Request } from '#event-log/handle-command';
import { Unavailable } from '#decider/unavailable';
import { closingOf } from '#fold/closing';
import { denialsNeeded } from '#policy/asked';
import { tallyOf } from '#policy/tally';
import { doneReply } from '#service/answer';
import { standing } from '#policy/votes';
import type { JudgingServices } from './approval-services.js';
import { knownCall, readCall, winnerOf, type ByCaller, type CallState, type KnownCall } from './domain/call.js';
import { deciding } from './domain/decide-approval.js';
import { revoking } from './domain/revoke-approval.js';
import { using } from './domain/use-approval.js';
import { withdrawing } from './domain/withdraw-vote.js';
import { conclude, judge } from './judge.js';
import { recordRefusedTry, type RefusedTryServices } from './refused-tries.js';

type Services = RefusedTryServices & JudgingServices;
type Asked<Command> = Request<Command, ByCaller>;
type Settled = Exclude<Handled<CallState>, { kind: 'refused' }>;

export async function decide(services: Services, request: Asked<DecideApproval>): Promise<Reply<Decided>> {
  const handled = await judge(services, deciding, request);
  if (handled.kind !== 'refused') return decided(services, request, handled);
  await recordRefusedTry(services, request, { tried: request.command.decision, refusal: handled.refusal });
  return declined({ ...handled.refusal, approvalId: request.command.approvalId });
}

async function decided(services: Services, request: Asked<DecideApproval>, handled: Settled): Promise<Reply<Decided>> {
  const verdict = handled.kind === 'recorded' ? 'counted' : 'duplicate';
  const isVote =
    handled.kind === 'recorded'
      ? handled.fact.event.type === 'ApprovalVoteCast'
      : handled.state.approval.steps.some(({ is }) => is === 'vote');
  return isVote
    ? voted(services, request, verdict)
    : reply({ verdict, seq: handled.kind === 'recorded' ? handled.fact.seq : seqOf(handled.state) });
}

/** The vote that was enough is followed by the decision before it is answered, with how far the votes go. */
async function voted(
  services: Services,
  { tenant, command, causationId }: Asked<DecideApproval>,
  verdict: Decided['verdict'],
): Promise<Reply<Decided>> {
  const { approvalId } = command;
  const read = () => readCall(services.policies)(services.log, tenant, command);
  const seen = await read();
  const isConcluded = await conclude(services, { tenant, command: { approvalId }, causationId }, seen);
  const known = knownCall(command, isConcluded ? await read() : seen);
  if (!known) throw new Unavailable('The log does not show yet what was voted on');
  const { decision, steps, seq } = known.approval;
  const closing = closingOf(steps);
  if (decision && decision.is !== closing?.as)
    return declined(
      refusal('superseded', `It was ${decision.is} meanwhile`, { approvalId, winner: winnerOf(decision) }),
    );
  return reply({ verdict, seq, votes: votesLike(command, known) });
}

/** Approvals are counted towards the quorum, and answers that close it towards the denials that are needed. */
function votesLike({ decision }: DecideApproval, known: KnownCall): NonNullable<Decided['votes']> {
  const { denials } = standing(known.approval.steps, known.call);
  if (decision !== 'approve') return { have: denials.length, need: denialsNeeded(known.ruling.requirement) };
  const { have, need } = tallyOf(known);
  return { have, need };
}

export async function revoke(services: Services, request: Asked<RevokeApproval>): Promise<Reply<Done>> {
  const handled = await judge(services, revoking, request);
  if (handled.kind === 'refused')
    await recordRefusedTry(services, request, { tried: 'revoke', refusal: handled.refusal });
  return doneReply(handled, seqOf);
}

export const use = async (services: JudgingServices, request: Asked<UseApproval>): Promise<Reply<Done>> =>
  doneReply(await judge(services, using, request), seqOf);

export const withdraw = async (services: JudgingServices, request: Asked<WithdrawVote>): Promise<Reply<Done>> =>
  doneReply(await judge(services, withdrawing, request), seqOf);

const seqOf = ({ approval }: CallState): number => approval.seq;
