import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.js';
import type { Board, OpenedTurn } from './board.js';
import { decideCall, decideTooLate, type Call, type Panel } from './approvers.js';
import type { Answer, Client } from './client.js';
import { drawStory, type CallPlan, type Fate, type Focus, type Story } from './story.js';
import { mayRunTwice, SERVER } from './tools.js';
import { work, type Worker } from './workers.js';

export interface Scene extends Panel {
  readonly name: string;
  readonly board: Board;
  readonly operator: Client;
  readonly worker: Worker;
  readonly draining: () => boolean;
  readonly focus: Focus;
}

const POLL_MS = 1_000;
const SETTLE_AFTER_MS = [1_500, 6_000] as const;
/** What may run twice is run again before anybody has to look into it. */
const SETTLE_TWICE_AFTER_MS = 10_000;

/** From the opening of one turn to its end, whatever comes in between. */
export async function liveOneTurn(scene: Scene, random: Random, n: number): Promise<void> {
  const story = drawStory(random, scene.focus);
  const conversationId = `${scene.name}-${n}`;
  const isNamed = story.sent !== 'again' || random.chance(0.5);
  const opened = await open(scene, random, {
    story,
    conversationId,
    ...(isNamed ? { turnId: `t-${scene.name}-${n}` } : {}),
  });
  if (!opened) return;
  const turnId = String(opened.body['turnId']);
  const turn = scene.board.opened(conversationId, turnId);
  const calls = (opened.body['approvals'] as { approvalId: string }[]).flatMap(({ approvalId }, index): Call[] => {
    const plan = story.calls[index];
    return plan ? [{ approvalId, conversationId, plan }] : [];
  });
  await Promise.all([
    ...calls.map((call) => decideCall(call, scene, random.fork(call.approvalId))),
    ...(story.plot.startsWith('cancel') ? [cancel(scene, random, { story, turn })] : []),
    ...(story.plot === 'supersede' ? [supersede(scene, random, { story, turn })] : []),
    ...(story.holder ? [resumeAsHolder(scene, turn)] : []),
    untilEnded(scene, random, turn),
    ...(story.plot === 'expire' ? calls.slice(0, 1).map((call) => afterExpiry(scene, random, { call, story })) : []),
  ]);
  if (!scene.draining() && random.chance(0.6)) await askAgain(scene, random, { story, turn });
}

export interface Opening {
  readonly story: Story;
  readonly conversationId: string;
  /** Made by the product where missing, from the request's key. */
  readonly turnId?: string;
  readonly supersedes?: string;
}

export async function open(
  { requester, worker }: Scene,
  random: Random,
  { story, conversationId, turnId, supersedes }: Opening,
): Promise<Answer | undefined> {
  const body = {
    conversationId,
    ...(turnId === undefined ? {} : { turnId }),
    agent: { id: 'billing-agent', onBehalfOf: 'zoe@example.com' },
    release: story.release,
    pool: story.pool,
    toolCalls: story.calls.map(({ toolCallId, toolName, args }) => ({ toolCallId, toolName, server: SERVER, args })),
    ...(story.expiresInSeconds === undefined ? {} : { expiresInSeconds: story.expiresInSeconds }),
    ...(story.holder ? { holder: { workerId: worker.workerId, graceSeconds: 3 } } : {}),
    ...(supersedes === undefined ? {} : { supersedes }),
  };
  const asking = { op: 'open', path: '/v1/turns', body } as const;
  const key = turnId === undefined || random.chance(0.5) ? randomUUID() : undefined;
  if (story.sent === 'once') return requester.ask({ ...asking, key });
  if (story.sent === 'twice') return (await Promise.all([requester.ask({ ...asking, key }), requester.ask(asking)]))[0];
  await requester.ask({ ...asking, key });
  return requester.ask({ ...asking, key });
}

interface Ending {
  readonly story: Story;
  readonly turn: OpenedTurn;
}

async function cancel(scene: Scene, random: Random, { story, turn }: Ending): Promise<void> {
  await sleep(story.plot === 'cancel-early' ? random.between(0, 100) : random.between(200, 900));
  await cancelTurn(scene, turn);
}

export async function cancelTurn({ requester, board }: Scene, { conversationId, turnId }: OpenedTurn): Promise<void> {
  const body = { conversationId, reason: 'the person went away' };
  const answer = await requester.insist({ op: 'cancel', path: `/v1/turns/${turnId}/cancel`, body });
  if (answer?.status === 200 || String(answer?.body['type']).endsWith(':turn-ended')) board.ended(turnId);
}

const approved = (call: CallPlan): CallPlan => ({ ...call, fate: 'approve' });
const waiting = (call: CallPlan): CallPlan => ({ ...call, fate: 'wait' });

/** A newer turn of the conversation takes this one's place, and is lived to its end itself. */
async function supersede(scene: Scene, random: Random, { story, turn }: Ending): Promise<void> {
  await sleep(random.between(0, 500));
  const { conversationId } = turn;
  const plain = { ...story, plot: 'run', holder: false, calls: story.calls.slice(0, 1).map(approved) } as const;
  await liveAnother(scene, random, {
    story: plain,
    conversationId,
    turnId: `${turn.turnId}-next`,
    supersedes: turn.turnId,
  });
}

const ANSWERING: readonly Fate[] = ['deny', 'race', 'remember'];

/** The model asks once more for what was denied, or remembered, in the same conversation: nobody hurries to answer. */
async function askAgain(scene: Scene, random: Random, { story, turn }: Ending): Promise<void> {
  const calls = story.calls.filter(({ fate }) => ANSWERING.includes(fate));
  if (calls.length === 0) return;
  const again = { ...story, plot: 'run', holder: false, calls: calls.map(waiting) } as const;
  const { conversationId, turnId } = turn;
  await liveAnother(scene, random, { story: again, conversationId, turnId: `${turnId}-again` });
}

async function liveAnother(scene: Scene, random: Random, next: Opening & { readonly turnId: string }): Promise<void> {
  const { story, conversationId, turnId } = next;
  const opened = await open(scene, random, next);
  if (!opened) return;
  const turn = scene.board.opened(conversationId, turnId);
  const ids = (opened.body['approvals'] as { approvalId: string }[]).map(({ approvalId }) => approvalId);
  const calls = story.calls.map((plan, index): Call => ({ approvalId: ids[index] ?? '', conversationId, plan }));
  await Promise.all(calls.map((call) => decideCall(call, scene, random.fork(call.approvalId))));
  await untilEnded(scene, random, turn);
}

async function afterExpiry(
  scene: Scene,
  random: Random,
  { call, story }: { readonly call: Call; readonly story: Story },
): Promise<void> {
  await sleep((story.expiresInSeconds ?? 0) * 1_000 + random.between(0, 300));
  await decideTooLate(call, scene, random);
}

async function resumeAsHolder(scene: Scene, turn: OpenedTurn): Promise<void> {
  const { worker, board } = scene;
  const { conversationId, turnId } = turn;
  for (let tries = 0; tries < 8 && !turn.ended; tries += 1) {
    await sleep(300);
    const body = { conversationId, workerId: worker.workerId };
    const path = `/v1/turns/${turnId}/resume`;
    const answer = await worker.client.insist({ op: 'resume-as-holder', path, body });
    if (answer?.status !== 200) continue;
    const { continuation, attempt, executions } = answer.body;
    board.taken(String(answer.body['leaseId']), Number(attempt));
    const free = (executions as Record<string, any>[]).filter(({ state }) => state === 'free');
    return work(worker, { ...continuation, attempt, free: free.map(({ approvalId }) => String(approvalId)) });
  }
}

/** Looks now and then, and has settled what is in doubt. */
async function untilEnded(scene: Scene, random: Random, turn: OpenedTurn): Promise<void> {
  const { requester, board } = scene;
  const doubts = new Map<string, number>();
  while (!turn.ended) {
    await sleep(scene.draining() ? POLL_MS / 2 : POLL_MS);
    if (turn.ended) return;
    const path = `/v1/turns/${turn.turnId}?conversationId=${turn.conversationId}`;
    const answer = await requester.ask({ op: 'read-turn', path, once: true });
    if (answer?.status !== 200) continue;
    if (['completed', 'failed', 'cancelled'].includes(String(answer.body['status']))) board.ended(turn.turnId);
    for (const { approvalId, toolName, status } of answer.body['approvals'] as CallRead[])
      if (status === 'in-doubt') await settle(scene, random, { approvalId, toolName, doubts });
  }
}

interface CallRead {
  readonly approvalId: string;
  readonly toolName: string;
  readonly status: string;
}

async function settle(
  { operator }: Scene,
  random: Random,
  { approvalId, toolName, doubts }: Omit<CallRead, 'status'> & { readonly doubts: Map<string, number> },
): Promise<void> {
  const at =
    doubts.get(approvalId) ??
    Date.now() + (mayRunTwice(toolName) ? SETTLE_TWICE_AFTER_MS : random.between(...SETTLE_AFTER_MS));
  doubts.set(approvalId, at);
  if (Date.now() < at) return;
  const ok = random.chance(0.5);
  const said = ok ? { ok, result: 'it was sent' } : { ok, error: 'it was not sent' };
  const body = { ...said, reason: 'looked into the mailbox' };
  await operator.insist({ op: 'settle', path: `/v1/approvals/${approvalId}/settle`, body });
}
