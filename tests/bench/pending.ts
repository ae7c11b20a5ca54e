import { digestOf } from '#contracts/canonical';
import type { Fact } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, instant, shortDigest, turnKeyOf, type ApprovalId, type TokenId } from '#contracts/ids';
import { subjects } from '#contracts/subjects';
import type { Log } from '#event-log/log';
import { connectBroker } from '#service/broker';
import type { World } from '../support/world.js';
import { TENANT } from './story.js';

const AT_ONCE = 100;
const TOKEN = `tk_${'b'.repeat(26)}` as TokenId;

/** So many turns more that wait for a decision, written as the orchestrator writes them, and the last one's place in the log. */
export async function openPending(world: World, from: number, to: number): Promise<number> {
  const settings = { natsUrl: world.natsUrl, natsCredsDir: world.servers.credsDir, natsCa: undefined };
  const broker = await connectBroker(settings, 'orchestrator');
  try {
    let last = 0;
    for (let begin = from; begin < to; begin += AT_ONCE)
      last = await appendAll(broker.events, begin, Math.min(to, begin + AT_ONCE));
    return last;
  } finally {
    await broker.close();
  }
}

async function appendAll(log: Log, from: number, to: number): Promise<number> {
  const facts = Array.from({ length: to - from }, (_, index) => request(from + index));
  const appended = await Promise.all(facts.map((fact) => log.append(fact)));
  const seqs = appended.map((one) => {
    if (one.is === 'stored') return one.seq;
    throw new Error(`A request was not stored: ${JSON.stringify(one)}`);
  });
  return Math.max(...seqs);
}

const idsOf = (turn: number) => {
  const [conversationId, turnId] = [`conversation-${turn}`, `turn-${turn}`];
  return { conversationId, turnId, turnKey: turnKeyOf(TENANT, conversationId, turnId) };
};

export const pendingApproval = (turn: number): ApprovalId => approvalIdOf(idsOf(turn).turnKey, 0);

function request(turn: number): Fact<HoldpointEvent> {
  const args = { to: `customer-${turn}@example.com`, body: `The invoice ${turn} is attached. `.repeat(10) };
  const call = { toolCallId: 'call_1', toolName: 'send_email', server: 'gmail', args, argsDigest: digestOf(args) };
  const ids = idsOf(turn);
  const data = { ...ids, agent: { id: 'billing-agent' }, release: 'all' as const, pool: 'default', toolCalls: [call] };
  return {
    tenant: TENANT,
    subject: subjects.request(TENANT, ids.turnKey),
    event: { type: 'ToolApprovalRequested', data: { ...data, tokenId: TOKEN, digest: digestOf(data) } },
    eventId: `ev_${shortDigest('pending', ids.turnKey)}`,
    occurredAt: instant(Date.now()),
    correlationId: ids.conversationId,
    causationId: 'request:bench',
    actor: { kind: 'agent', id: 'billing-agent', via: `token:${TOKEN}` },
  };
}
