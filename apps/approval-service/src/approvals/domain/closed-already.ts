import { later, type Instant } from '#contracts/ids';
import { refusal, type Refusal } from '#contracts/refusals';
import type { Closing } from '#fold/closing';
import { lastWord } from '#policy/tally';
import type { KnownCall } from './call.js';

/** Until when an approval that these steps come to is held, where it is. */
export const heldFrom = ({ ruling }: KnownCall, now: Instant): { readonly heldUntil?: Instant } => {
  const { holdSeconds } = ruling.requirement;
  return holdSeconds === undefined ? {} : { heldUntil: later(now, holdSeconds) };
};

export const isHeld = ({ heldUntil }: Closing, now: Instant): boolean => heldUntil !== undefined && now < heldUntil;

/** Nothing more is needed: what the votes have come to. */
export function closedAlready(closing: Closing, known: KnownCall, now: Instant): Refusal {
  const { by, at, seq } = lastWord(closing, known);
  const held = isHeld(closing, now)
    ? `, and is held until ${closing.heldUntil}: those who voted for it can withdraw`
    : '';
  return refusal('superseded', `It was ${closing.as} already${held}`, {
    winner: { decision: closing.as, by, at, seq },
  });
}
