import type { Message } from './read-log.js';
import { dataOf, type TurnFacts } from './story-of-log.js';
import type { Tolerance } from './approvals.js';
import type { Report } from './violation.js';

const ms = (instant: unknown): number => Date.parse(String(instant));

/** Attempts only grow, one at a time, and nobody takes what another still has. */
export function checkLeases(key: string, leases: readonly Message[], report: Report): void {
  let last: { readonly attempt: number; readonly workerId: string; readonly until: number } = {
    attempt: 0,
    workerId: '',
    until: 0,
  };
  for (const [index, message] of leases.entries()) {
    const { n, attempt, workerId, leaseUntil } = dataOf(message);
    const at = ms(message.body.occurredAt);
    if (n !== index + 1) report('I1', key, `lease fact ${n} stands in place ${index + 1}`);
    if (message.type === 'TurnResumed') {
      if (attempt !== last.attempt + 1) report('I1', key, `attempt ${attempt} follows attempt ${last.attempt}`);
      if (at < last.until)
        report('I1', key, `${workerId} took attempt ${attempt} while ${last.workerId} had ${last.attempt}`);
    } else if (attempt !== last.attempt || workerId !== last.workerId)
      report('I1', key, `${workerId} holds on to attempt ${attempt} while ${last.workerId} has ${last.attempt}`);
    last = { attempt, workerId, until: message.type === 'LeaseGivenBack' ? at : ms(leaseUntil) };
  }
}

/** A turn ends once, by whoever has it or by being cancelled. */
export function checkEnd(turn: TurnFacts, { standstillMs }: Tolerance, report: Report): void {
  const { turnKey, ends, leases } = turn;
  if (ends.length > 1) report('I1', turnKey, `it ended ${ends.length} times`);
  const [end] = ends;
  if (!end) return;
  const { status, attempt } = dataOf(end);
  if (status === 'cancelled') return;
  const before = leases.filter(({ seq, type }) => seq < end.seq && type === 'TurnResumed');
  if (!before.some((one) => dataOf(one).attempt === attempt))
    return report('I5', turnKey, `it was ended by attempt ${attempt}, which nobody had taken`);
  const later = before.find((one) => dataOf(one).attempt > attempt);
  if (later && ms(later.time) + standstillMs < ms(end.body.occurredAt))
    report('I5', turnKey, `attempt ${attempt} ended it after attempt ${dataOf(later).attempt} had taken it`);
}
