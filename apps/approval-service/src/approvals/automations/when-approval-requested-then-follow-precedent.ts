import { setTimeout as sleep } from 'node:timers/promises';
import type { Automation } from '#automation/run-automation';
import type { Actor, Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, instant } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import type { ToolApprovalRequested } from '#contracts/turns/events';
import { handleCommand } from '#event-log/handle-command';
import { Unavailable } from '#decider/unavailable';
import { readGrant, type Grant } from '#fold/grant';
import { ruleOn } from '#policy/ruling';
import {
  GRANTS_A_PAGE,
  type LikeCall,
  type Precedents,
  type ReadPrecedents,
} from '../../projections/precedents/precedents.query.js';
import type { JudgingServices } from '../approval-services.js';
import { approvingByGrant, isForGrant } from '../domain/approve-by-grant.js';
import { knownCall, readCallToUse, type AboutCall, type KnownCall } from '../domain/call.js';
import { denyingAgain, readEarlierDenial, type EarlierDenial } from '../domain/deny-again.js';
import { redeeming } from '../domain/redeem-grant.js';
import { takeBackGranted } from '../take-back-granted.js';
import { OneAtATime } from './one-at-a-time.js';

interface PrecedentServices extends JudgingServices {
  readonly precedents: ReadPrecedents;
  /** Those who want a use of one grant would else take each other's place, over and over. */
  readonly queue: OneAtATime;
}

/**
 * What somebody said before of calls like this one answers it: their denial of the same call, or a grant that they gave. Both
 * are found in the read model, and proven by the log; while that is away, people are asked, and this is tried again.
 */
export function whenApprovalRequestedThenFollowPrecedent(around: Omit<PrecedentServices, 'queue'>): Automation {
  const services = { ...around, queue: new OneAtATime() };
  return {
    durable: 'precedents',
    react: async (fact) => {
      if (fact.event.type === 'ToolApprovalRequested') await lookBack(services, fact, fact.event.data);
    },
  };
}

type Requested = Recorded<HoldpointEvent>;

async function lookBack(services: PrecedentServices, fact: Requested, request: ToolApprovalRequested): Promise<void> {
  const policy = await services.policies.at(fact.tenant, fact.seq);
  const asked = request.toolCalls.map((call, index) => ({ call, approvalId: approvalIdOf(request.turnKey, index) }));
  const forPeople = asked.filter(({ call }) => ruleOn(policy, request, call).effect === 'require');
  await Promise.all(
    forPeople.map(async ({ call, approvalId }) => {
      const { toolName, server, argsDigest } = call;
      const { conversationId, agent } = request;
      const like = { toolName, server, argsDigest, conversationId, agent: agent.id };
      await follow(services, { fact, approvalId, like: { tenant: fact.tenant, seq: fact.seq, ...like } });
    }),
  );
}

const AGAIN_MS = 50;
const WITHIN_MS = 5_000;

/** Once the read model has come as far as the request. */
async function foundBy(precedents: ReadPrecedents, like: LikeCall): Promise<Precedents> {
  for (const until = Date.now() + WITHIN_MS; Date.now() < until; await sleep(AGAIN_MS)) {
    const found = await precedents(like);
    if (found) return found;
  }
  throw new Unavailable('The read model is far behind the log');
}

interface LookedAt extends AboutCall {
  readonly fact: Requested;
  readonly like: LikeCall;
}

/** A grant that was given after the denial was meant for calls like the one that was denied. */
async function follow(services: PrecedentServices, looked: LookedAt): Promise<void> {
  const { fact, approvalId, like } = looked;
  const { log } = services;
  const found = await foundBy(services.precedents, like);
  if (found.grants.length === 0 && found.denial === undefined) return;
  const known = knownCall({ approvalId }, await readCallToUse(services.policies)(log, fact.tenant, { approvalId }));
  if (!known) throw behind();
  const denial = found.denial && (await readEarlierDenial(log, fact.tenant, known, found.denial));
  if (denial === 'behind') throw behind();
  for await (const grant of grantsOf(services, like, found)) {
    const isLater = grant.seq > (denial?.seq ?? 0);
    if (isLater && (await approvedBy(services, { ...looked, known, grant }))) return;
  }
  if (denial) await deny(services, looked, denial);
}

/** Page by page, since any could be the one: a condition is not asked by the read model. */
async function* grantsOf(services: PrecedentServices, like: LikeCall, first: Precedents): AsyncGenerator<Grant> {
  for (let found = first; ;) {
    let last: Grant | undefined;
    for (const id of found.grants) {
      last = await readGrant(services.log, like.tenant, id);
      if (!last) throw behind();
      yield last;
    }
    if (!last || found.grants.length < GRANTS_A_PAGE) return;
    found = await foundBy(services.precedents, { ...like, grantsAfter: last.seq });
  }
}

/** The read model is made from the log: what it has and the log does not show will be there. */
const behind = () => new Unavailable('The log does not show yet what the read model was made from');

interface Granting extends LookedAt {
  readonly known: KnownCall;
  readonly grant: Grant;
}

/**
 * Takes a use of the grant and approves by it. Where another run has done so meanwhile the use is void: it is the decision that
 * names the one that counts. The end of the grant is looked at again at last, since the reaction to it may have come in between.
 */
async function approvedBy(services: PrecedentServices, granting: Granting): Promise<boolean> {
  const { fact, approvalId, known, grant } = granting;
  const { decision } = known.approval;
  if (!decision && isForGrant(grant, known, instant(services.clock()))) {
    if (!(await approve(services, granting))) return false;
  } else if (decision?.grant?.grantId !== grant.grantId) return false;
  const over = await services.log.last(subjects.over(fact.tenant, grant.grantId));
  if (over) await takeBackGranted(services, over, approvalId);
  return true;
}

/** Whether it is decided, by this or meanwhile; not where the grant, say, has ended since. */
async function approve(services: PrecedentServices, granting: Granting): Promise<boolean> {
  const { fact, approvalId, grant } = granting;
  const n = await services.queue.run(grant.grantId, () => redeem(services, granting));
  if (n === undefined) return false;
  const actor: Actor = { kind: 'grant', id: grant.grantId, via: 'reaction:requested' };
  const command = { approvalId, grant, n };
  const rule = approvingByGrant(services.policies);
  const handled = await handleCommand(services, rule, { ...becauseOf(fact), command, actor });
  return handled.kind === 'recorded' || handled.state.approval.decision !== undefined;
}

async function redeem(services: PrecedentServices, { fact, approvalId, grant }: Granting): Promise<number | undefined> {
  const command = { grantId: grant.grantId, approvalId, requestSeq: fact.seq };
  const actor: Actor = { kind: 'service', id: 'approval-service', via: 'reaction:requested' };
  const handled = await handleCommand(services, redeeming, { ...becauseOf(fact), command, actor });
  if (handled.kind === 'recorded' && handled.fact.event.type === 'GrantRedeemed') return handled.fact.event.data.n;
  if (!handled.state.grant) throw behind();
  return handled.state.mine?.n;
}

async function deny(
  services: PrecedentServices,
  { fact, approvalId }: LookedAt,
  earlier: EarlierDenial,
): Promise<void> {
  const command = { approvalId, earlier };
  const actor: Actor = { kind: 'denial', id: earlier.repeats.approvalId, via: 'reaction:requested' };
  await handleCommand(services, denyingAgain(services.policies), { ...becauseOf(fact), command, actor });
}

const becauseOf = ({ tenant, eventId }: Requested) => ({ tenant, causationId: eventId, context: {} });
