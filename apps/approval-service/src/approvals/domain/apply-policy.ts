import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { accept, nothingToDo, type Answer } from '#decider/decider';
import { usableFrom } from './answer.js';
import { decisionOn, isForPolicy, knownCall, onCall, type AboutCall, type CallRule, type CallState } from './call.js';

type Context = { readonly now: Instant };

/** What the policy decides without a person. Everything that is done with an approval records this first (design 4.2). */
export function applyPolicy(command: AboutCall, state: CallState, { now }: Context): Answer<HoldpointEvent, never> {
  const known = knownCall(command, state);
  if (!known || !isForPolicy(known)) return nothingToDo;
  const { ruling } = known;
  const decision = { ...decisionOn(known, command), rules: [...ruling.rules] };
  const because = ruling.reason === undefined ? {} : { reason: ruling.reason };
  return accept({
    type: 'ToolApprovalDecided',
    data:
      ruling.effect === 'approve'
        ? { ...decision, ...because, decision: 'approved', ...usableFrom(known, now) }
        : { ...decision, ...because, decision: 'denied' },
  });
}

export const applyingPolicy: CallRule<AboutCall, object> = onCall(applyPolicy);
