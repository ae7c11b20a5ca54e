import { setTimeout as sleep } from 'node:timers/promises';
import { digest } from '../canonical.js';
import type { Random } from '../random.js';
import type { Answer, Client } from './client.js';
import { GRANTED, SERVER } from './tools.js';

/** Tools of the load say nothing of themselves: written here as the public rule has it. */
const SCHEMA_DIGEST = digest({ inputSchema: {}, annotations: {} });

export interface Remembering {
  readonly scope: Readonly<Record<string, unknown>>;
  readonly maxUses: number;
  readonly expiresInSeconds?: number;
}

/** For a few calls; for all of a tool, those of the agent, of one conversation, or below an amount; some soon over. */
export function drawGrant(
  random: Random,
  { tool, conversationId, amount = 1_250 }: { readonly tool: string; conversationId?: string; amount?: number },
): Remembering {
  const kind = random.weighed({ tool: 3, agent: 2, amount: 2, conversation: conversationId === undefined ? 0 : 3 });
  const scopes = {
    tool: {},
    agent: { agent: 'billing-agent' },
    amount: { when: `args.amount <= ${amount.toFixed(2)}` },
    conversation: { conversationId },
  };
  return {
    scope: { tool, ...scopes[kind] },
    maxUses: random.between(1, 3),
    ...(random.chance(0.2) ? { expiresInSeconds: random.between(2, 6) } : {}),
  };
}

export const give = (by: Client, { scope, ...bounds }: Remembering): Promise<Answer | undefined> =>
  by.insist({
    op: 'give-grant',
    path: '/v1/grants',
    body: { scope: { server: SERVER, ...scope }, ...bounds, schemaDigest: SCHEMA_DIGEST },
  });

/** What is remembered with a decision is a grant only a moment later. */
export async function endGrant(by: Client, grantId: unknown): Promise<void> {
  const asking = { op: 'end-grant', path: `/v1/grants/${String(grantId)}/end`, body: { reason: 'enough' } } as const;
  for (let tries = 0; tries < 20; tries += 1) {
    const answer = await by.insist(asking);
    if (answer?.status !== 404) return;
    await sleep(250);
  }
}

/** Somebody gives a grant by themselves; some of them, for what they or their agents will ask for: it is good for nothing. */
export async function giveOne(grantors: readonly Client[], random: Random): Promise<void> {
  const by = random.pick(grantors);
  const given = await give(by, drawGrant(random, { tool: random.pick(GRANTED) }));
  await endSome(by, given?.body['grantId'], random);
}

export async function endSome(by: Client, grantId: unknown, random: Random): Promise<void> {
  if (grantId === undefined || random.chance(0.6)) return;
  await sleep(random.between(0, 2_000));
  await endGrant(by, grantId);
}
