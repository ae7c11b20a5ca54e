import { isIdempotent } from './policy.js';
import type { Message } from './read-log.js';
import { dataOf, type CallFacts, type LogStory } from './story-of-log.js';

export const takenBy = (call: CallFacts, attempt: unknown): Message | undefined =>
  leasesOf(call).find((one) => one.type === 'TurnResumed' && dataOf(one).attempt === attempt);

/** A call runs under its turn's lease where that is released whole, else under its own. */
export const leasesOf = (call: CallFacts): readonly Message[] =>
  (call.turn.data.release === 'all' ? call.turn : call).leases;

/** Who may run it, and report: whoever took its use, and where it may run twice whoever took a later attempt. */
export function isRunner(
  story: LogStory,
  call: CallFacts,
  { attempt, workerId }: { readonly attempt: number; readonly workerId: string },
): boolean {
  const [use] = call.uses;
  if (use?.type !== 'ToolExecutionStarted') return false;
  const first = dataOf(use);
  if (attempt === first.attempt) return workerId === first.workerId;
  const taken = takenBy(call, attempt);
  return (
    attempt > first.attempt && isIdempotent(story, call) && taken !== undefined && dataOf(taken).workerId === workerId
  );
}
