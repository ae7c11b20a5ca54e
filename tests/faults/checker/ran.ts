import { digest } from '../canonical.js';
import type { Ran } from '../ledger.js';
import { isIdempotent } from './policy.js';
import { isRunner } from './runners.js';
import { dataOf, type LogStory } from './story-of-log.js';
import type { Report } from './violation.js';

/** No tool ran twice that must not, and none ran but as it was approved, by who had its use. */
export function checkRan(story: LogStory, ran: readonly Ran[], report: Report): void {
  const times = new Map<string, number>();
  for (const { approvalId, argsDigest, attempt, workerId } of ran) {
    times.set(approvalId, (times.get(approvalId) ?? 0) + 1);
    const call = story.calls.get(approvalId);
    const [decision] = call?.decisions ?? [];
    const [use] = call?.uses ?? [];
    if (!call || !decision || dataOf(decision).decision !== 'approved') {
      report('I5', approvalId, `${workerId} ran it, and nobody had approved it`);
      continue;
    }
    if (argsDigest !== digest(dataOf(decision).editedArgs ?? call.call.args))
      report('I5', approvalId, `${workerId} ran it with other arguments than were approved`);
    if (use?.type !== 'ToolExecutionStarted')
      report('I5', approvalId, `${workerId} ran it, and the log has ${use?.type ?? 'no use'}`);
    else if (!isRunner(story, call, { attempt, workerId }))
      report('I5', approvalId, `${workerId} ran it under attempt ${attempt}; the use is another's`);
  }
  for (const [approvalId, count] of times) {
    const call = story.calls.get(approvalId);
    if (count > 1 && !(call && isIdempotent(story, call))) report('I1', approvalId, `its tool ran ${count} times`);
  }
}
