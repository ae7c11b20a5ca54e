import { isAskedAgain } from './policy.js';
import type { Message } from './read-log.js';
import { dataOf, type CallFacts, type LogStory } from './story-of-log.js';
import type { Report } from './violation.js';

/** A denial that was repeated is a person's, of the very same call, from before it was asked for again. */
export function checkRepeated(story: LogStory, call: CallFacts, decision: Message, report: Report): void {
  const { approvalId, turn } = call;
  const { actor } = decision.body;
  const { decision: is, repeats, reason } = dataOf(decision);
  const wrong = (what: string) => report('I5', approvalId, what);
  if ((actor.kind === 'denial') !== (repeats !== undefined)) return wrong(`${actor.kind} ${actor.id} denied it again`);
  if (is === 'denied' && !repeats && actor.kind !== 'person') wrong(`it was denied by ${actor.kind} ${actor.id}`);
  if (!repeats) return;
  const first = story.calls.get(repeats.approvalId);
  const [said] = first?.decisions ?? [];
  if (is !== 'denied' || actor.id !== repeats.approvalId) wrong(`${actor.id} made it ${is}`);
  if (!first || !said || dataOf(said).decision !== 'denied' || said.body.actor.kind !== 'person')
    return wrong(`nobody denied ${repeats.approvalId}`);
  if (said.body.actor.id !== repeats.by)
    wrong(`${repeats.approvalId} was denied by ${said.body.actor.id}, not ${repeats.by}`);
  if (said.seq > turn.request.seq) wrong(`${repeats.approvalId} was denied after it was asked for`);
  if (first.turn.data.conversationId !== turn.data.conversationId)
    wrong(`${repeats.approvalId} is of another conversation`);
  const [one, other] = [first.call, call.call];
  if (one.toolName !== other.toolName || one.server !== other.server || one.argsDigest !== other.argsDigest)
    wrong(`${repeats.approvalId} is another call`);
  if (dataOf(said).reason !== reason) wrong(`the reason for ${repeats.approvalId} was another`);
  if (isAskedAgain(story, call)) wrong('the policy wants it asked again');
  const before = [...story.calls.values()].filter(
    ({ decisions: [earlier] }) =>
      earlier && earlier.seq < turn.request.seq && dataOf(earlier).repeats?.approvalId === repeats.approvalId,
  );
  if (!(repeats.count >= 1 && repeats.count <= before.length + 1))
    wrong(`it is time ${repeats.count} after ${before.length} times before`);
}
