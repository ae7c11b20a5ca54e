import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.js';
import { cancelTurn, open, type Scene } from './agents.js';
import type { OpenedTurn } from './board.js';
import { endGrant, give } from './grantors.js';
import type { Story } from './story.js';
import { SHELVED } from './tools.js';
import { pullOnce } from './workers.js';

const SHELF = 'shelf';
const POLL_MS = 250;
/** As long as it takes to react again after whoever reacted was killed. */
const FOUND_WITHIN_MS = 15_000;
/** After the end of a grant an approval by it may still come, and must be taken back as well. */
const AFTERWARDS_MS = 500;

/**
 * A grant, a call that it approves and that no worker takes, and the end of the grant. Only an approval that was taken back lets
 * the turn come to its end; now and then a worker tries to run the call after the end.
 */
export async function shelve(scene: Scene, random: Random, n: number): Promise<void> {
  const conversationId = `${scene.name}-shelf-${n}`;
  const turnId = `t-${conversationId}`;
  const story = shelved(random);
  const by = random.pick(scene.approvers);
  const given = await give(by, { scope: { tool: SHELVED, conversationId }, maxUses: 2 });
  if (given?.status !== 201) return;
  if (!(await open(scene, random, { story, conversationId, turnId }))) return;
  const turn = scene.board.opened(conversationId, turnId);
  // Where nobody waits for it, the end comes while it is being approved.
  if (random.chance(0.6)) await until(scene, turn, { isnt: 'pending', withinMs: FOUND_WITHIN_MS });
  else await sleep(random.between(0, 150));
  await endGrant(by, given.body['grantId']);
  if (random.chance(0.5)) await pullOnce(scene.worker, SHELF);
  await sleep(AFTERWARDS_MS);
  await until(scene, turn, { isnt: 'approved' });
  await cancelTurn(scene, turn);
}

function shelved(random: Random): Story {
  const args = { to: `x${random.between(1, 999)}@example.com`, amount: 1 };
  const call = { toolCallId: 'call_0', toolName: SHELVED, args, fate: 'nobody', afterMs: 0 } as const;
  return { plot: 'run', release: 'all', pool: SHELF, calls: [call], holder: false, sent: 'once' };
}

interface Awaited {
  readonly isnt: string;
  /** Until the turn has ended, or is given up, where missing. */
  readonly withinMs?: number;
}

async function until({ requester, draining }: Scene, turn: OpenedTurn, { isnt, withinMs }: Awaited): Promise<void> {
  const path = `/v1/turns/${turn.turnId}?conversationId=${turn.conversationId}`;
  const isGivenUp = (from: number) => withinMs !== undefined && (draining() || Date.now() - from > withinMs);
  for (const from = Date.now(); !turn.ended && !isGivenUp(from); await sleep(POLL_MS)) {
    const answer = await requester.ask({ op: 'read-turn', path, once: true });
    const [approval] = (answer?.body['approvals'] ?? []) as { readonly status: string }[];
    if (approval && approval.status !== isnt) return;
  }
}
