import { approvalIdOf, isTurnKey, type Tenant, type TurnKey } from '#contracts/ids';
import { refusal } from '#contracts/refusals';
import { declined, reply, type Done, type Reply } from '#contracts/rpc';
import { subjects } from '#contracts/subjects';
import type { Request } from '#event-log/handle-command';
import { Unavailable } from '#decider/unavailable';
import { readTurn } from '#fold/read';
import type { JudgingServices } from './approval-services.js';
import type { AboutCall, CallState } from './domain/call.js';
import { closing } from './domain/close-approval.js';
import { judge } from './judge.js';

/** Closes every approval that an ended turn left, and answers when each is taken. The end in the log is the authority, whoever asks. */
export async function closeTurnApprovals(
  services: JudgingServices,
  tenant: Tenant,
  turnKey: TurnKey,
): Promise<Reply<Done>> {
  if (!isTurnKey(turnKey)) return noSuchTurn;
  const { log } = services;
  const [turn, end] = await Promise.all([readTurn(log, tenant, turnKey), log.last(subjects.end(tenant, turnKey))]);
  if (turn.state === 'unknown') return noSuchTurn;
  if (!end) return declined(refusal('not-ready', 'The turn has not ended'));
  const requests = turn.request.toolCalls.map((_, index) =>
    closeRequest(tenant, approvalIdOf(turnKey, index), end.eventId),
  );
  const closed = await Promise.all(requests.map((request) => closeOne(services, request)));
  return reply({
    seq: Math.max(end.seq, ...closed.map(({ seq }) => seq)),
    recorded: closed.some(({ recorded }) => recorded),
  });
}

const noSuchTurn = declined(refusal('not-found', 'There is no turn with this id'));

const closeRequest = (
  tenant: Tenant,
  approvalId: AboutCall['approvalId'],
  causationId: string,
): Request<AboutCall, object> => ({
  command: { approvalId },
  context: {},
  tenant,
  actor: { kind: 'service', id: 'approval-service', via: 'reaction:turn-ended' },
  causationId,
});

/** Read again after each write: what was approved in between is taken back by the next round. Each round takes a subject, of two. */
async function closeOne(services: JudgingServices, request: Request<AboutCall, object>): Promise<Done> {
  for (let recorded = false; ; recorded = true) {
    const handled = await judge(services, closing, request);
    if (handled.kind === 'recorded') continue;
    if (!isTaken(handled.state)) throw new Unavailable('The log does not show yet that the turn has ended');
    return { seq: handled.state.approval.seq, recorded };
  }
}

const isTaken = ({ approval: { decision, use } }: CallState): boolean =>
  decision !== undefined && (decision.is !== 'approved' || use !== undefined);
