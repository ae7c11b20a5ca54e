import { canonical, digest, same } from '../canonical.js';
import type { Asked, Told } from '../ledger.js';
import type { Message } from './read-log.js';
import { isRunner } from './runners.js';
import { approvalIdOf, dataOf, turnKeyOf, type CallFacts, type LogStory } from './story-of-log.js';
import type { Report } from './violation.js';

/** One request and the answer that its client believed. */
export interface Exchange {
  readonly asked: Asked;
  readonly told: Told;
}

type Check = (story: LogStory, exchange: Exchange, lost: (subject: string, what: string) => void) => void;

const BECOMES: Readonly<Record<string, string>> = {
  approve: 'approved',
  deny: 'denied',
  respond: 'responded',
  cancel: 'cancelled',
};
const idIn = (path: string, after: string): string => path.split('/')[path.split('/').indexOf(after) + 1] ?? '';

/** Whatever a client was told has happened is in the log, as it was told (I2). */
export function checkAcknowledged(story: LogStory, exchanges: readonly Exchange[], report: Report): void {
  for (const exchange of exchanges) {
    const { op } = exchange.asked;
    const { status, body } = exchange.told;
    const check = status < 300 ? ACCEPTED[op] : undefined;
    const lost = (subject: string, what: string) =>
      report('I2', subject, `${exchange.asked.by} was told ${status} to ${op}, and ${what}`);
    check?.(story, exchange, lost);
    if (body.winner) checkWinner(story, exchange, lost);
  }
}

const ACCEPTED: Partial<Record<Asked['op'], Check>> = {
  open: (story, { asked, told }, lost) => {
    const turnKey = turnKeyOf(asked.body.conversationId, told.body.turnId);
    const turn = story.turns.get(turnKey);
    if (!turn) return lost(turnKey, 'no such turn is in the log');
    if (told.status === 201 && !asked.key && told.body.seq !== turn.request.seq)
      lost(turnKey, `with sequence ${told.body.seq}, and it has ${turn.request.seq}`);
    const asIn = ({ toolCallId, toolName, server, args }: any) => ({ toolCallId, toolName, server, args });
    const { release, pool, toolCalls } = turn.data;
    const stored = { release, pool, toolCalls: (toolCalls as any[]).map(asIn) };
    const sent = {
      release: asked.body.release,
      pool: asked.body.pool,
      toolCalls: (asked.body.toolCalls as any[]).map(asIn),
    };
    if (!same(stored, sent)) lost(turnKey, 'the log has another turn under its id');
    for (const [index, { approvalId }] of (told.body.approvals as { approvalId: string }[]).entries())
      if (approvalId !== approvalIdOf(turnKey, index)) lost(turnKey, `its call ${index} is called ${approvalId}`);
  },

  decide: (story, { asked, told }, lost) => {
    const items =
      asked.path === '/v1/decisions' ? told.body.items : [{ ...told.body, approvalId: idIn(asked.path, 'approvals') }];
    const bodies = asked.body.items ?? [asked.body];
    for (const [at, { approvalId, verdict, seq, problem }] of (items as any[]).entries()) {
      if (problem?.winner)
        checkWinner(
          story,
          { asked: { ...asked, path: `/v1/approvals/${approvalId}` }, told: { ...told, body: problem } },
          lost,
        );
      if (verdict !== 'counted' && verdict !== 'duplicate') continue;
      const call = story.calls.get(approvalId);
      const fact = call?.decisions[0];
      if (!call || !fact) lost(approvalId, 'no decision is in the log');
      // Said again, it answers with the last fact of the approval, which may have gone on since.
      else if (verdict === 'counted' ? fact.seq !== seq : fact.seq > seq)
        lost(approvalId, `with sequence ${seq}, and it has ${fact.seq}`);
      else if (!isDecision(fact, call, { by: asked.by, body: bodies[at] }))
        lost(approvalId, `the log has another: ${canonical(dataOf(fact))}`);
    }
  },

  revoke: (story, { asked, told }, lost) =>
    checkUseFact(
      story,
      { asked, told },
      lost,
      (fact) => fact.type === 'ToolApprovalRevoked' && fact.body.actor.id === asked.by,
    ),

  use: (story, { asked, told }, lost) =>
    checkUseFact(story, { asked, told }, lost, (fact, call) => {
      const { argsDigest, ...runner } = asked.body;
      return dataOf(fact).argsDigest === argsDigest && isRunner(story, call, runner);
    }),

  outcome: (story, { asked }, lost) => {
    const approvalId = idIn(asked.path, 'approvals');
    const call = story.calls.get(approvalId);
    const fact = call?.outcomes[0];
    if (!fact) return lost(approvalId, 'no outcome is in the log');
    if (!isOutcome(fact, asked.body)) lost(approvalId, `the log has another: ${canonical(dataOf(fact))}`);
    const { attempt, workerId } = dataOf(call?.uses[0] ?? fact);
    if (!call || !isRunner(story, call, asked.body))
      lost(approvalId, `it was begun by ${workerId} under attempt ${attempt}, not by ${asked.body.workerId}`);
  },

  settle: (story, { asked }, lost) => {
    const approvalId = idIn(asked.path, 'approvals');
    const fact = story.calls.get(approvalId)?.outcomes[0];
    if (!fact) return lost(approvalId, 'no outcome is in the log');
    if (dataOf(fact).settledBecause !== asked.body.reason || !isOutcome(fact, asked.body))
      lost(approvalId, `the log has another: ${canonical(dataOf(fact))}`);
  },

  end: (story, { asked }, lost) => {
    const turnKey = turnKeyOf(asked.body.conversationId, idIn(asked.path, 'turns'));
    const fact = story.turns.get(turnKey)?.ends[0];
    if (!fact) return lost(turnKey, 'no end is in the log');
    const { status, attempt } = dataOf(fact);
    if (status !== asked.body.status || attempt !== asked.body.attempt)
      lost(turnKey, `it is ${status} by attempt ${attempt}`);
  },

  cancel: (story, { asked, told }, lost) => {
    const turnKey = turnKeyOf(asked.body.conversationId, idIn(asked.path, 'turns'));
    const turn = story.turns.get(turnKey);
    if (dataOf(turn?.ends[0] ?? ({} as Message)).status !== 'cancelled')
      lost(turnKey, 'it is not cancelled in the log');
    for (const { approvalId, status } of told.body.approvals as { approvalId: string; status: string }[])
      checkStatus(story.calls.get(approvalId), status, lost);
  },

  resume: (story, exchange, lost) => checkLease(story, exchange, 'TurnResumed', lost),
  'resume-as-holder': (story, exchange, lost) => checkLease(story, exchange, 'TurnResumed', lost),
  extend: (story, exchange, lost) => checkLease(story, exchange, 'LeaseExtended', lost),

  'give-back': (story, { asked }, lost) => {
    const key = idIn(asked.path, 'continuations');
    const facts = leasesOf(story, key).filter(({ type }) => type === 'LeaseGivenBack');
    if (
      !facts.some((one) => dataOf(one).attempt === asked.body.attempt && dataOf(one).workerId === asked.body.workerId)
    )
      lost(key, 'the log does not have it given back');
  },

  pull: (story, { told }, lost) => {
    for (const item of told.body.items as any[]) {
      const of = item.kind === 'turn' ? story.turns.get(item.leaseId) : story.calls.get(item.leaseId);
      if (of?.commands.length === 0) lost(item.leaseId, 'the log has no continuation of it');
      for (const result of item.results) checkResult(story, result, lost);
    }
  },

  'give-grant': (story, { asked, told }, lost) => {
    const fact = story.grants.get(told.body.grantId)?.issued;
    const { scope, maxUses, schemaDigest } = dataOf(fact ?? ({} as Message));
    const { scope: wanted, ...more } = asked.body;
    const isAsAsked = same([scope, maxUses, schemaDigest], [wanted, more.maxUses, more.schemaDigest]);
    if (fact?.seq !== told.body.seq || fact?.body.actor.id !== asked.by || !isAsAsked)
      lost(told.body.grantId, 'no such grant is in the log');
  },
  'end-grant': (story, { told }, lost) => {
    const [fact] = story.grants.get(told.body.grantId)?.ends ?? [];
    if (!fact || fact.seq !== told.body.seq) lost(told.body.grantId, 'the log does not have it ended');
  },

  'issue-token': (story, { told }, lost) => {
    const fact = story.tokens.get(told.body.id)?.find(({ type }) => type === 'TokenIssued');
    if (fact?.seq !== told.body.seq) lost(told.body.id, 'no such token is in the log');
  },
  'revoke-token': (story, { told }, lost) => {
    if (!story.tokens.get(told.body.id)?.some(({ type }) => type === 'TokenRevoked'))
      lost(told.body.id, 'the log does not have it revoked');
  },
};

function isDecision(
  fact: Message,
  { call }: CallFacts,
  { by, body }: { readonly by: string; readonly body: any },
): boolean {
  const { decision, argsDigest, editedArgs, reason, response, remember } = dataOf(fact);
  return (
    fact.body.actor.id === by &&
    decision === BECOMES[body.decision] &&
    same({ reason, response }, { reason: body.reason, response: body.response }) &&
    argsDigest === digest(body.updatedInput ?? call.args) &&
    (body.argsDigest === undefined || body.argsDigest === digest(call.args)) &&
    (editedArgs === undefined || same(editedArgs, body.updatedInput)) &&
    isRemembered(remember, call, body.remember)
  );
}

const isRemembered = (remember: any, { server }: any, asked: any): boolean =>
  asked === undefined
    ? remember === undefined
    : same([remember?.scope, remember?.maxUses], [{ server, ...asked.scope }, asked.maxUses]);

const isOutcome = (fact: Message, { ok, result, error }: any): boolean =>
  ok
    ? fact.type === 'ToolExecutionSucceeded' && same(dataOf(fact).result, result)
    : fact.type === 'ToolExecutionFailed' && same(dataOf(fact).error, error);

function checkUseFact(
  story: LogStory,
  { asked, told }: Exchange,
  lost: (subject: string, what: string) => void,
  isRight: (fact: Message, call: CallFacts) => boolean,
): void {
  const approvalId = idIn(asked.path, 'approvals');
  const call = story.calls.get(approvalId);
  const fact = call?.uses[0];
  if (!fact) return lost(approvalId, 'the log has nothing of it');
  // Who runs it again is answered without a fact of its own, with the last of the approval.
  const isFirst = asked.op === 'use' && dataOf(fact).attempt === asked.body.attempt;
  const isSeq = isFirst ? fact.seq === told.body.seq : fact.seq <= told.body.seq;
  if (!isRight(fact, call) || !isSeq) lost(approvalId, `fact ${fact.seq} is ${fact.type} ${canonical(dataOf(fact))}`);
}

const leasesOf = (story: LogStory, key: string): readonly Message[] =>
  (story.turns.get(key) ?? story.calls.get(key))?.leases ?? [];

function checkLease(
  story: LogStory,
  { asked, told }: Exchange,
  type: string,
  lost: (subject: string, what: string) => void,
): void {
  const key = told.body.leaseId ?? idIn(asked.path, 'continuations');
  const fact = leasesOf(story, key).find((one) => one.seq === told.body.seq);
  if (!fact) return lost(key, `fact ${told.body.seq} is not of its lease`);
  const { attempt, leaseUntil, workerId } = dataOf(fact);
  const { body } = told;
  if (
    fact.type !== type ||
    !same([attempt, leaseUntil, workerId], [body.attempt, body.leaseUntil, asked.body.workerId])
  )
    lost(key, `fact ${fact.seq} is ${fact.type} ${canonical(dataOf(fact))}`);
}

/** Whoever lost was told who won: there is one winner, and the log has it. */
function checkWinner(story: LogStory, { asked, told }: Exchange, lost: (subject: string, what: string) => void): void {
  const approvalId = idIn(asked.path, 'approvals');
  const call = story.calls.get(approvalId);
  const { decision, by, at, seq } = told.body.winner;
  const isOutcomeWinner = decision === 'succeeded' || decision === 'failed';
  const fact = isOutcomeWinner ? call?.outcomes[0] : call?.decisions[0];
  const is = isOutcomeWinner
    ? fact?.type === 'ToolExecutionSucceeded'
      ? 'succeeded'
      : 'failed'
    : dataOf(fact ?? ({} as Message)).decision;
  if (!fact || !same([is, fact.body.actor.id, fact.body.occurredAt, fact.seq], [decision, by, at, seq]))
    lost(
      approvalId,
      `that the winner is ${canonical(told.body.winner)}, and fact ${fact?.seq} says ${is} by ${fact?.body.actor.id}`,
    );
}

/** What a cancelled turn's answer says of its calls is for ever, but for what had begun. */
function checkStatus(call: CallFacts | undefined, status: string, lost: (subject: string, what: string) => void): void {
  const decision = dataOf(call?.decisions[0] ?? ({} as Message)).decision;
  const use = call?.uses[0]?.type;
  const isTrue =
    status === 'revoked'
      ? use === 'ToolApprovalRevoked'
      : ['executing', 'executed', 'failed', 'in-doubt'].includes(status)
        ? use === 'ToolExecutionStarted'
        : status === 'lapsed'
          ? use === 'ToolApprovalLapsed'
          : status === decision;
  if (!isTrue) lost(call?.approvalId ?? '?', `that it is ${status}, and the log has ${decision}, ${use}`);
}

/** What a worker is offered to run is what was approved, and what was not approved is not offered as such. */
function checkResult(story: LogStory, result: any, lost: (subject: string, what: string) => void): void {
  const call = story.calls.get(result.approvalId);
  const fact = call?.decisions[0];
  if (!call || !fact) return lost(result.approvalId, 'the log has no decision of it');
  const { decision, editedArgs, argsDigest } = dataOf(fact);
  const taken = result.decision === 'revoked' || result.decision === 'lapsed';
  if (
    taken
      ? call.uses[0]?.type !== `ToolApproval${result.decision === 'revoked' ? 'Revoked' : 'Lapsed'}`
      : result.decision !== decision
  )
    lost(result.approvalId, `that it was ${result.decision}, and the log has ${decision}`);
  if (result.argsDigest !== argsDigest || !same(result.args, editedArgs ?? call.call.args))
    lost(result.approvalId, 'to run other arguments than the log has');
}
