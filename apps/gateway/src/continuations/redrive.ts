import type { Caller } from '#contracts/roles';
import { refused } from '../http/problem.js';
import type { ReadTurns } from '../turns/read-turns.js';
import { lastSeq } from '../turns/turn-view.js';
import { offerDue, type DueServices } from './offer-due.js';

export interface Redrive {
  readonly caller: Caller;
  readonly conversationId: string;
  readonly turnId: string;
}

/** What the reconciler does, for one turn, at once and by hand. `offered` is 0 where a worker has it or it waits for a decision. */
export async function redrive(
  services: DueServices & { readonly turns: ReadTurns },
  { caller, conversationId, turnId }: Redrive,
): Promise<{ readonly seq: number; readonly offered: number }> {
  const whole = await services.turns.named(caller, conversationId, turnId);
  if (whole.turn.end) throw refused('turn-ended', `The turn ${turnId} has ended: ${whole.turn.end.status}`);
  const due = { ...whole, tenant: caller.tenant, foundBy: `redrive:${caller.tokenId}`, patienceMs: 0 };
  return { seq: lastSeq(whole), offered: await offerDue(services, due) };
}
