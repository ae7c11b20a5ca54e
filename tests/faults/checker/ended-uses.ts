import type { Exchange } from './acknowledged.js';
import { dataOf, type LogStory } from './story-of-log.js';
import type { Report } from './violation.js';

/** Once somebody was told that a grant is over, nobody who asks after that begins what it approved. What began may run again. */
export function checkEndedUses(story: LogStory, exchanges: readonly Exchange[], report: Report): void {
  const toldAt = new Map<string, number>();
  for (const { asked, told } of exchanges)
    if (asked.op === 'end-grant' && told.status === 200)
      toldAt.set(told.body.grantId, Math.min(told.at, toldAt.get(told.body.grantId) ?? told.at));
  for (const { asked, told } of exchanges) {
    if (asked.op !== 'use' || told.status !== 200) continue;
    const approvalId = asked.path.split('/')[3] ?? '';
    const { decisions: [decision] = [], uses: [use] = [] } = story.calls.get(approvalId) ?? {};
    if (use && dataOf(use).attempt !== asked.body.attempt) continue;
    const grantId = decision && dataOf(decision).grant?.grantId;
    if ((toldAt.get(grantId) ?? Number.POSITIVE_INFINITY) < asked.at)
      report('I5', approvalId, `${asked.body.workerId} was let run it after the end of ${grantId}`);
  }
}
