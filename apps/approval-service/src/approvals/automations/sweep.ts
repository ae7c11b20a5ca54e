import { setTimeout as sleep } from 'node:timers/promises';
import { instant } from '#contracts/ids';
import type { Request } from '#event-log/handle-command';
import { Unavailable } from '#decider/unavailable';
import type { JudgingServices } from '../approval-services.js';
import { applyingPolicy } from '../domain/apply-policy.js';
import { asPolicy, type AboutCall, type CallRule } from '../domain/call.js';
import { endingHold } from '../domain/end-hold.js';
import { escalating } from '../domain/escalate-approval.js';
import { expiring } from '../domain/expire-approval.js';
import { lapsing } from '../domain/lapse-approval.js';
import { conclude, judge } from '../judge.js';
import type { DueReader, DueRow } from '../../projections/due/due.query.js';
import { Resting } from './resting.js';

const EVERY_MS = 1_000;
const AT_ONCE = 16;
const A_PASS = 500;
/** Longer than the read model lags behind; a row that is still due after it is tried again. */
const RESTS_MS = 30_000;

export interface SweepReport {
  /** The deadlines could not be read, or the log takes nothing: nothing was swept this time. */
  paused(error: unknown): void;
  failed(row: DueRow, error: unknown): void;
}

export interface SweepServices extends JudgingServices {
  readonly due: DueReader;
  readonly report: SweepReport;
}

/** Once a second asks what is due and appends what has become of it, until aborted. Rivals are harmless: each fact is written once. */
export async function runSweep(services: SweepServices, signal: AbortSignal): Promise<void> {
  const resting = new Resting(RESTS_MS);
  while (!signal.aborted) {
    const began = Date.now();
    await sweepOnce(services, resting, signal).catch((error: unknown) => services.report.paused(error));
    await sleep(Math.max(0, EVERY_MS - (Date.now() - began)), undefined, { signal }).catch(() => undefined);
  }
}

/** Rows that were just tried rest, whatever came of it; as many more are asked for, so that they hide no others. */
export async function sweepOnce(services: SweepServices, resting: Resting, signal: AbortSignal): Promise<void> {
  const now = services.clock();
  const rows = await services.due.dueBy(instant(now), A_PASS + resting.count(now));
  const awake = rows.filter((row) => !resting.has(keyOf(row), now));
  for (let at = 0; at < awake.length && !signal.aborted; at += AT_ONCE)
    await everyOne(awake.slice(at, at + AT_ONCE).map((row) => sweepRow(services, resting, row)));
}

/** Waits for all, so that nothing of this pass runs on into the next one. */
async function everyOne(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}

const BECOMES_DUE = {
  expiry: expiring,
  lapse: lapsing,
  hold: endingHold,
  escalation: escalating,
  policy: applyingPolicy,
} as const satisfies Record<DueRow['what'], CallRule<AboutCall, object>>;

/** An outage ends the pass, and the next second's begins where it was; anything else is about this row alone. */
async function sweepRow(services: SweepServices, resting: Resting, row: DueRow): Promise<void> {
  try {
    const request = requestOf(row);
    await judge(services, BECOMES_DUE[row.what], request);
    if (row.what === 'hold' || row.what === 'escalation') await conclude(services, request);
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    services.report.failed(row, error);
  }
  resting.begin(keyOf(row), services.clock());
}

const keyOf = ({ tenant, approvalId, what }: DueRow): string => `${tenant}/${approvalId}/${what}`;

const requestOf = ({ tenant, approvalId, what }: DueRow): Request<AboutCall, object> => ({
  command: { approvalId },
  context: {},
  tenant,
  actor:
    what === 'policy' ? asPolicy(`sweep:${what}`) : { kind: 'timer', id: 'approval-service', via: `sweep:${what}` },
  causationId: `sweep:${approvalId}`,
});
