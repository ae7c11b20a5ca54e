import { runAutomation, type AutomationReport } from '#automation/run-automation';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { indexOfApproval, turnKeyOfApproval } from '#contracts/ids';
import type { DurableName } from '#event-log/durables';
import { Unavailable } from '#decider/unavailable';
import { type Log } from '#event-log/log';
import type { WholeTurn } from '#fold/read';
import type { ReadTurns } from '../turns/read-turns.js';
import { publishCommand, type Commands } from './publish-command.js';
import { isClosing, react, type Closing } from './when-approval-closed-then-continue-conversation.js';

export interface Continuing extends Commands {
  readonly turns: Pick<ReadTurns, 'asOf'>;
}

const DURABLE: DurableName = 'gateway';

/** Turns decisions into continuations until aborted; any number of gateways may run it, each fact goes to one of them. */
export const continueClosedTurns = (
  to: Continuing & { readonly events: Log },
  report: AutomationReport,
  signal: AbortSignal,
): Promise<void> =>
  runAutomation(to.events, { durable: DURABLE, react: (fact) => continueAfter(to, fact) }, report, signal);

export async function continueAfter(to: Continuing, fact: Recorded<HoldpointEvent>): Promise<void> {
  if (!isClosing(fact.event)) return;
  const whole = await to.turns.asOf(fact.tenant, turnKeyOfApproval(fact.event.data.approvalId), fact.seq);
  if (!whole || !hasSeen(whole, fact.event, fact.seq))
    throw new Unavailable(`The log does not show fact ${fact.seq} yet, which it delivered`);
  for (const command of react(fact.event, whole))
    await publishCommand(to, { tenant: fact.tenant, command, causationId: fact.eventId });
}

/** A leader that was cut off answers for a second or two with what it knew: the fact in hand shows it. */
const hasSeen = ({ approvals }: WholeTurn, { data }: Closing, seq: number): boolean =>
  (approvals[indexOfApproval(data.approvalId)]?.seq ?? 0) >= seq;
