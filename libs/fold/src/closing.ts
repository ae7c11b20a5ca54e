import type { Instant } from '#contracts/ids';
import type { Step, VoteStep } from './approval.js';

/** After this step no other is needed: a vote, or a stage for which the votes that there were are enough. */
export interface Closing {
  readonly as: NonNullable<VoteStep['closes']>;
  /** While a vote can still be withdrawn. */
  readonly heldUntil?: Instant;
}

/** What the steps have come to: the decision that follows from them, and whether it is held. */
export const closingOf = (steps: readonly Step[]): Closing | undefined => steps.reduce(after, undefined);

function after(closing: Closing | undefined, step: Step): Closing | undefined {
  switch (step.is) {
    case 'vote':
    case 'escalated':
      return step.closes === undefined ? closing : { as: step.closes, ...until(step) };
    case 'withdrawn':
      return closing && step.heldUntil !== undefined ? { ...closing, ...until(step) } : undefined;
    case 'hold-ended':
      return closing && { as: closing.as };
  }
}

const until = ({ heldUntil }: { readonly heldUntil?: Instant }) => (heldUntil === undefined ? {} : { heldUntil });
