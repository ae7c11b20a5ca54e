import type { ContinueConversation } from '#contracts/continuations/events';
import { instant, type Tenant } from '#contracts/ids';
import { continuationSubject } from '#contracts/subjects';
import type { WholeTurn } from '#fold/read';
import type { PoliciesInForce } from '#policy/in-force';
import { policyWhereInDoubt, type JudgedTurn } from '#policy/run-again';
import { judgeOffer } from './judge-offer.js';
import type { Offers } from './offers.js';
import { publishCommand, type Commands } from './publish-command.js';
import { continuationsDue } from './when-approval-closed-then-continue-conversation.js';

export interface DueServices extends Commands {
  readonly offers: Offers;
  readonly policies: Pick<PoliciesInForce, 'at'>;
}

interface Looking {
  readonly tenant: Tenant;
  /** Who found it: `reconciler` or `redrive`. */
  readonly foundBy: string;
  /** How long a command may have waited for the broker to offer it, before it is offered from here. */
  readonly patienceMs: number;
}

export type Due = WholeTurn & Looking;

/** The reaction once more, for a turn that was found decided and not resumed. Says how many continuations it set going. */
export async function offerDue(services: DueServices, due: Due): Promise<number> {
  const judged = { ...due, policy: await policyWhereInDoubt(services.policies, due.tenant, due) };
  let offered = 0;
  for (const command of continuationsDue(due)) if (await offerOne(services, judged, command)) offered += 1;
  return offered;
}

async function offerOne(
  services: DueServices,
  due: JudgedTurn & Looking,
  command: ContinueConversation,
): Promise<boolean> {
  const { tenant, foundBy, patienceMs } = due;
  const stored = await services.commands.last(continuationSubject(tenant, command));
  if (!stored) return publishCommand(services, { tenant, command, causationId: foundBy });
  const { storedAt } = stored;
  const now = instant(services.clock());
  const isLeftLying = Date.parse(now) - Date.parse(storedAt) >= patienceMs;
  if (!isLeftLying || judgeOffer({ ...due, command, storedAt, now }).is !== 'offer') return false;
  services.offers.offerAgain(tenant, { command, storedAt });
  return true;
}
