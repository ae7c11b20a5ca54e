import type { RequestedToolCall } from '#contracts/turns/events';
import { isSamePerson, samePerson } from '#contracts/ids';
import type { Step, VoteStep } from '#fold/approval';
import type { Person } from './person.js';

/** The arguments that are voted on: those asked for, or the latest edit of them. */
export interface Proposal {
  readonly argsDigest: string;
  readonly args?: Record<string, unknown>;
  /** Whose edit it is. */
  readonly editor?: string;
}

/** Each person's latest vote that was not withdrawn, in their order. */
export interface Standing {
  readonly proposal: Proposal;
  /** For just these arguments. */
  readonly approvals: readonly VoteStep[];
  readonly denials: readonly VoteStep[];
}

interface Folded {
  readonly proposal: Proposal;
  readonly votes: readonly VoteStep[];
}

/** An edit voids the approvals before it, and so does taking it back. A denial stands whatever the arguments are. */
export function standing(steps: readonly Step[], { argsDigest }: Pick<RequestedToolCall, 'argsDigest'>): Standing {
  const asked: Proposal = { argsDigest };
  const { proposal, votes } = steps.reduce((folded, step) => count(folded, step, asked), {
    proposal: asked,
    votes: [],
  } as Folded);
  return {
    proposal,
    approvals: votes.filter((one) => one.vote === 'approve' && one.argsDigest === proposal.argsDigest),
    denials: votes.filter((one) => one.vote !== 'approve'),
  };
}

function count({ proposal, votes }: Folded, step: Step, asked: Proposal): Folded {
  switch (step.is) {
    case 'vote': {
      const others = votes.filter((one) => !isBy(one, step.by));
      if (!step.editedArgs) return { proposal, votes: [...others, step] };
      const edited = { argsDigest: step.argsDigest, args: step.editedArgs, editor: samePerson(step.by) };
      return { proposal: edited, votes: [...others.filter(isDenial), step] };
    }
    case 'withdrawn': {
      const others = votes.filter((one) => !isBy(one, step.by));
      const wasTheirs = proposal.editor === samePerson(step.by);
      return wasTheirs ? { proposal: asked, votes: others.filter(isDenial) } : { proposal, votes: others };
    }
    case 'escalated':
    case 'hold-ended':
      return { proposal, votes };
  }
}

/** Somebody said yes and thought better of it: they would not have it approved without anybody. */
export const isApprovalTakenBack = (steps: readonly Step[]): boolean =>
  steps.some((step, at) => {
    if (step.is !== 'withdrawn') return false;
    const theirs = steps.slice(0, at).filter((one): one is VoteStep => one.is === 'vote' && isBy(one, step.by));
    return theirs.at(-1)?.vote === 'approve';
  });

const isDenial = ({ vote }: VoteStep): boolean => vote !== 'approve';

export const isBy = ({ by }: { readonly by: string }, subject: string): boolean => isSamePerson(by, subject);

export const personOf = ({ by, groups }: VoteStep): Person => ({ subject: by, groups });
