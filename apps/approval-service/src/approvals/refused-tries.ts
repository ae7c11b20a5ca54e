import { setTimeout as sleep } from 'node:timers/promises';
import type { DecisionRefused } from '#contracts/approvals/events';
import { personDigest } from '#contracts/ids';
import type { Refusal } from '#contracts/refusals';
import { handleCommand, type LogServices, type Request } from '#event-log/handle-command';
import type { AboutCall, ByCaller } from './domain/call.js';
import { isRefusedTry, refusing, type RecordRefusedTry } from './domain/refused-try.js';

/** Where it shows that a try came to nothing, beside the log. */
export interface RefusedTryReport {
  /** Every one, repeats too. */
  counted(why: string): void;
  /** The answer went out, but the log may not have the fact. */
  unrecorded(attempted: RecordRefusedTry, error: unknown): void;
}

export interface RefusedTryServices extends LogServices {
  readonly refusedTries: RefusedTryReport;
}

/** With the 8 s that the command itself may have taken this stays within the 10 s that the asker waits. */
const WAITS_MS = 1_500;

/** Records that somebody tried in vain, before they are told. Where the log is away their answer, which is true, goes out all the same. */
export async function recordRefusedTry(
  services: RefusedTryServices,
  request: Request<AboutCall, ByCaller>,
  { tried, refusal }: { readonly tried: DecisionRefused['tried']; readonly refusal: Refusal },
): Promise<void> {
  const { reason: why } = refusal;
  if (!isRefusedTry(why)) return;
  const { idempotencyKey: _, ...unkeyed } = request;
  const who = personDigest(request.tenant, request.context.caller.subject);
  const command = { approvalId: request.command.approvalId, who, why, tried };
  services.refusedTries.counted(why);
  const recorded = handleCommand(services, refusing, { ...unkeyed, command }).then(
    () => undefined,
    (error: unknown) => services.refusedTries.unrecorded(command, error),
  );
  await withinMs(WAITS_MS, recorded);
}

async function withinMs(ms: number, work: Promise<void>): Promise<void> {
  const enough = new AbortController();
  const waited = sleep(ms, undefined, { signal: enough.signal }).catch(() => undefined);
  await Promise.race([work, waited]);
  enough.abort();
}
