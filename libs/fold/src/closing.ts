import type { Instant } from '#contracts/ids';
import type { Step, VoteStep } from './approval.js';

/** The vote after which no other is needed, where there is one and it was not withdrawn. */
export interface Closing {
  readonly vote: VoteStep;
  readonly as: NonNullable<VoteStep['closes']>;
  /** While it can still be withdrawn. */
  readonly heldUntil?: Instant;
}

/** What the steps have come to: the decision that follows from them, and whether it is held. */
export const closingOf = (steps: readonly Step[]): Closing | undefined => steps.reduce(after, undefined);

function after(closing: Closing | undefined, step: Step): Closing | undefined {
  switch (step.is) {
    case 'vote':
      return step.closes === undefined ? closing : { vote: step, as: step.closes, ...until(step) };
    case 'withdrawn':
      return closing && step.heldUntil !== undefined ? { ...closing, ...until(step) } : undefined;
    case 'hold-ended':
      return closing && { vote: closing.vote, as: closing.as };
    case 'escalated':
      return closing;
  }
}

const until = ({ heldUntil }: { readonly heldUntil?: Instant }) => (heldUntil === undefined ? {} : { heldUntil });
