import { dataOf, type CallFacts, type LogStory } from './story-of-log.js';

/** The rules about a call, by the newest version before its request. The campaign's name tools whole, and have no conditions. */
function rulesFor({ policies }: LogStory, { turn, call }: CallFacts): readonly any[] {
  const inForce = policies.filter(({ seq }) => seq < turn.request.seq).at(-1);
  const rules = (inForce ? dataOf(inForce).rules : []) as any[];
  return rules.filter(({ tools }) => (tools as string[]).includes(call.toolName));
}

/** It may run twice: every rule about it says so. */
export function isIdempotent(story: LogStory, call: CallFacts): boolean {
  const rules = rulesFor(story, call);
  return rules.length > 0 && rules.every(({ idempotent }) => idempotent === true);
}

export const isAskedAgain = (story: LogStory, call: CallFacts): boolean =>
  rulesFor(story, call).some(({ require }) => require?.askAgainAfterDenial === true);
