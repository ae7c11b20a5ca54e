import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { digest } from '../canonical.js';
import type { Random } from '../random.js';
import type { Answer, Client } from './client.js';
import { drawGrant, endSome } from './grantors.js';
import type { CallPlan } from './story.js';

export interface Panel {
  readonly approvers: readonly Client[];
  /** Speaks for agents too: the requester itself, who may not decide. */
  readonly requester: Client;
}

export interface Call {
  readonly approvalId: string;
  readonly conversationId: string;
  readonly plan: CallPlan;
}

type Decision = Readonly<Record<string, unknown>>;

/** Longer than it takes to find what was said before. */
const LEFT_ALONE_MS = 1_500;

/** What people do about one call: the plan's fate, each in several manners. */
export async function decideCall(call: Call, panel: Panel, random: Random): Promise<void> {
  const { approvalId, plan } = call;
  const [first, second, third] = random.shuffled(panel.approvers);
  if (!first || !second || !third) throw new Error('Three approvers are needed');
  const decide = (by: Client, body: Decision) => decideOnce({ by, approvalId, body }, random);
  await sleep(plan.afterMs);
  switch (plan.fate) {
    case 'nobody':
      return;
    case 'own':
      await decide(panel.requester, { decision: 'approve' });
      await decide(first, { decision: 'approve' });
      return;
    case 'other-arguments':
      await decide(first, { decision: 'approve', argsDigest: digest({ other: true }) });
      await decide(first, { decision: 'approve', argsDigest: digest(plan.args) });
      return;
    case 'race':
      await Promise.all([
        decide(first, { decision: 'approve' }),
        decide(second, { decision: 'deny', reason: 'not now' }),
        ...(random.chance(0.5) ? [decide(third, { decision: 'approve', updatedInput: edited(plan) })] : []),
      ]);
      return;
    case 'revoke':
      if (isCounted(await decide(first, { decision: 'approve' })))
        await first.insist({ op: 'revoke', path: `/v1/approvals/${approvalId}/revoke`, body: { reason: 'a mistake' } });
      return;
    case 'wait':
      await sleep(LEFT_ALONE_MS);
      await decide(first, { decision: 'approve' });
      return;
    case 'remember': {
      const { toolName: tool, args } = plan;
      const remember = drawGrant(random, { tool, conversationId: call.conversationId, amount: Number(args['amount']) });
      const answer = await decide(first, { decision: 'approve', remember });
      if (isCounted(answer)) await endSome(first, answer?.body['approval'].decision.remember.grantId, random);
      return;
    }
    case 'bulk':
      await first.insist({
        op: 'decide',
        path: '/v1/decisions',
        body: { items: [{ approvalId, decision: 'approve' }] },
      });
      return;
    default:
      await decide(first, bodyOf(plan));
  }
}

const edited = ({ args }: CallPlan) => ({ ...args, amount: 1, edited: true });
const isCounted = (answer: Answer | undefined) => answer?.status === 200;

function bodyOf(plan: CallPlan): Decision {
  switch (plan.fate) {
    case 'edit':
      return { decision: 'approve', updatedInput: edited(plan) };
    case 'deny':
      return { decision: 'deny', reason: 'it is too much' };
    case 'respond':
      return { decision: 'respond', response: { text: 'do it by hand', n: 1 } };
    case 'cancel':
      return { decision: 'cancel' };
    default:
      return { decision: 'approve' };
  }
}

interface Deciding {
  readonly by: Client;
  readonly approvalId: string;
  readonly body: Decision;
}

/** With a key, without one, or twice at once under one key: whatever it is, it counts once. */
async function decideOnce({ by, approvalId, body }: Deciding, random: Random): Promise<Answer | undefined> {
  const asking = { op: 'decide', path: `/v1/approvals/${approvalId}/decision`, body } as const;
  const manner = random.weighed({ key: 4, none: 4, twice: 2, again: 1 });
  if (manner === 'key') return by.insist(asking);
  if (manner === 'none') return by.ask(asking);
  const key = randomUUID();
  if (manner === 'twice') return (await Promise.all([by.ask({ ...asking, key }), by.ask({ ...asking, key })]))[0];
  await by.ask({ ...asking, key });
  return by.ask({ ...asking, key });
}

/** After the deadline nobody decides any more. */
export async function decideTooLate({ approvalId }: Call, panel: Panel, random: Random): Promise<void> {
  await random.pick(panel.approvers).ask({
    op: 'decide',
    path: `/v1/approvals/${approvalId}/decision`,
    body: { decision: 'approve' },
  });
}
