import { describe, expect, it } from '@jest/globals';
import type { DecideApproval } from '#contracts/approvals/commands';
import { digestOf } from '#contracts/canonical';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import type { Requirement } from '#contracts/policies/policy';
import type { Refusal } from '#contracts/refusals';
import type { Answer } from '#decider/decider';
import { closeApproval } from './close-approval.js';
import { concludeVotes } from './conclude-votes.js';
import { decideApproval } from './decide-approval.js';
import { endHold } from './end-hold.js';
import { escalateApproval } from './escalate-approval.js';
import { expireApproval } from './expire-approval.js';
import {
  after,
  ARGS,
  by,
  CALL,
  callerOf,
  DIGEST,
  ended,
  published,
  requested,
  stateAfter,
  type Told,
} from './stories-for-spec.js';
import { withdrawVote } from './withdraw-vote.js';

type Asking = Partial<Omit<DecideApproval, 'approvalId'>>;

/** A story told by acts: what each rule answers is what happened next. */
class Story {
  private readonly facts: Told[];
  refusal: Refusal | undefined;

  constructor(requirement: Requirement, request = requested()) {
    this.facts = [published(requirement), request];
  }

  vote(who: string, said: Asking = {}, more: { groups?: string[]; at?: Instant } = {}): this {
    const command: DecideApproval = { approvalId: CALL, decision: 'approve', ...said };
    const context = by(who, more.at, { groups: more.groups ?? [] });
    return this.happened(decideApproval(command, this.state(), context), who, 'person', context.now);
  }

  withdraw(who: string, at?: Instant): this {
    const context = { caller: callerOf(who), now: at ?? after(100) };
    return this.happened(withdrawVote({ approvalId: CALL }, this.state(), context), who, 'person', context.now);
  }

  time(rule: typeof endHold, at: Instant): this {
    return this.happened(rule({ approvalId: CALL }, this.state(), { now: at }), 'approval-service', 'timer', at);
  }

  concluded(at = after(100)): this {
    return this.time(concludeVotes, at);
  }

  told = (): readonly Told[] => this.facts;
  state = () => stateAfter(...this.facts);
  types = () => this.facts.slice(2).map(({ event }) => event.type);
  last = () => this.facts.at(-1)?.event.data;
  reason = () => this.refusal?.reason;
  detail = () => this.refusal?.detail;

  private happened(answer: Answer<HoldpointEvent, Refusal>, who: string, kind: Told['kind'], at: Instant): this {
    this.refusal = answer.kind === 'refuse' ? answer.refusal : undefined;
    if (answer.kind === 'accept') this.facts.push({ event: answer.event, by: who, kind, at });
    return this;
  }
}

const two = (more: Partial<Requirement> = {}) => new Story({ approvers: { count: 2 }, ...more });
const held = () => new Story({ approvers: { count: 1 }, holdSeconds: 60 });
const EDIT = { amount: 20 };
const EDITED = digestOf(EDIT);

describe('where two are needed', () => {
  it('one vote decides nothing', () => {
    const story = two().vote('ada').concluded();
    expect(story.types()).toEqual(['ApprovalVoteCast']);
    expect(story.last()).toMatchObject({ n: 1, vote: 'approve', argsDigest: DIGEST });
    expect(story.last()).not.toHaveProperty('closes');
  });

  it('the second vote closes it, and the decision follows from the votes', () => {
    const story = two().vote('ada').vote('bob', { reason: 'fine' }).concluded();
    expect(story.types()).toEqual(['ApprovalVoteCast', 'ApprovalVoteCast', 'ToolApprovalDecided']);
    expect(story.last()).toMatchObject({ decision: 'approved', steps: 2, reason: 'fine', argsDigest: DIGEST });
  });

  it('the same person twice is one vote, whatever the case of their name', () => {
    expect(two().vote('Ada').vote('ada').types()).toEqual(['ApprovalVoteCast']);
  });

  it("a person's latest vote counts", () => {
    const story = two({ approvers: { count: 2, denyCount: 2 } })
      .vote('ada')
      .vote('ada', { decision: 'deny' })
      .vote('bob');
    expect(story.concluded().types()).toEqual(['ApprovalVoteCast', 'ApprovalVoteCast', 'ApprovalVoteCast']);
  });

  it('one no closes it', () => {
    const story = two().vote('ada').vote('bob', { decision: 'deny' }).concluded();
    expect(story.last()).toMatchObject({ decision: 'denied', steps: 2 });
  });

  it('a no that is not enough leaves it open', () => {
    const story = two({ approvers: { count: 2, denyCount: 2 } })
      .vote('ada', { decision: 'deny' })
      .vote('bob');
    expect(story.vote('carl').concluded().last()).toMatchObject({ decision: 'approved', steps: 3 });
  });

  it('the requester is no one of them', () => expect(two().vote('demo-agent').reason()).toBe('self-approval'));

  it('after it was closed no vote is taken, and who closed it is said', () => {
    const story = two().vote('ada').vote('bob').vote('carl');
    expect(story.refusal).toMatchObject({ reason: 'superseded', winner: { decision: 'approved', by: 'bob' } });
    expect(story.vote('bob').refusal).toBeUndefined();
    expect(story.types()).toHaveLength(2);
  });

  it('a vote is withdrawn before that, and not after', () => {
    const story = two().vote('ada').withdraw('ada').vote('bob').concluded();
    expect(story.types()).toEqual(['ApprovalVoteCast', 'ApprovalVoteWithdrawn', 'ApprovalVoteCast']);
    expect(story.vote('ada').withdraw('ada').reason()).toBe('superseded');
  });

  it('nobody withdraws a vote of others; their own once, however often they say so', () => {
    expect(two().vote('ada').withdraw('bob').reason()).toBe('not-found');
    const twice = two().vote('ada').withdraw('ada').withdraw('ada');
    expect([twice.reason(), twice.types()]).toEqual([undefined, ['ApprovalVoteCast', 'ApprovalVoteWithdrawn']]);
  });

  it('is too late past the deadline', () =>
    expect(
      two()
        .vote('ada', {}, { at: after(86_400) })
        .reason(),
    ).toBe('late'));
});

describe('an edit, where two are needed,', () => {
  const edited = () => two().vote('ada').vote('bob', { updatedInput: EDIT });

  it('voids the votes before it, and its author fills no place', () => {
    const story = edited().vote('carl', { argsDigest: EDITED });
    expect(story.concluded().types()).toEqual(['ApprovalVoteCast', 'ApprovalVoteCast', 'ApprovalVoteCast']);
    expect(story.vote('dora', { argsDigest: EDITED }).concluded().last()).toMatchObject({
      decision: 'approved',
      editedArgs: EDIT,
      argsDigest: EDITED,
      steps: 4,
    });
  });

  it('is not approved by whoever did not see it', () => {
    expect(edited().vote('carl').reason()).toBe('arguments-changed');
    expect(edited().vote('carl', { argsDigest: DIGEST }).reason()).toBe('arguments-changed');
    expect(
      edited()
        .vote('carl', { argsDigest: DIGEST, updatedInput: { amount: 30 } })
        .reason(),
    ).toBe('arguments-changed');
  });

  it('is approved by whoever sends it again, whole', () => {
    const story = edited()
      .vote('carl', { updatedInput: EDIT })
      .vote('dora', { updatedInput: EDIT, argsDigest: EDITED });
    expect(story.concluded().last()).toMatchObject({ decision: 'approved', editedArgs: EDIT, argsDigest: EDITED });
  });

  it('is not approved by whoever writes down what was asked for first: that is an edit too', () => {
    const back = edited().vote('carl', { updatedInput: ARGS, argsDigest: EDITED });
    expect(back.last()).toMatchObject({ editedArgs: ARGS, argsDigest: DIGEST });
    const story = back.vote('dora', { updatedInput: ARGS }).concluded();
    expect(story.types()).not.toContain('ToolApprovalDecided');
    expect(story.vote('emil').concluded().last()).toMatchObject({ decision: 'approved', argsDigest: DIGEST });
    expect(story.last()).not.toHaveProperty('editedArgs');
  });

  it('that is taken back leaves what was asked, and no approval of it', () => {
    const story = edited().vote('carl', { argsDigest: EDITED }).withdraw('bob').vote('dora').concluded();
    expect(story.types()).not.toContain('ToolApprovalDecided');
    expect(story.vote('carl').concluded().last()).toMatchObject({ decision: 'approved', argsDigest: DIGEST });
    expect(story.last()).not.toHaveProperty('editedArgs');
  });
});

describe('groups', () => {
  const both = () =>
    new Story({
      approvers: {
        all: [
          { count: 1, groups: ['a'] },
          { count: 1, groups: ['b'] },
        ],
      },
    });

  it('who is in two of them fills one place', () => {
    const story = both()
      .vote('ada', {}, { groups: ['a', 'b'] })
      .concluded();
    expect(story.types()).toEqual(['ApprovalVoteCast']);
    expect(
      story
        .vote('bob', {}, { groups: ['a'] })
        .concluded()
        .last(),
    ).toMatchObject({ decision: 'approved' });
  });

  it('who is in none may say neither yes nor no', () => {
    expect(both().vote('ada').reason()).toBe('forbidden');
    expect(both().vote('ada', { decision: 'deny' }).reason()).toBe('forbidden');
  });

  it('one after the other: the second is asked when the first has answered', () => {
    const story = new Story({
      approvers: {
        inOrder: [
          { count: 1, groups: ['a'] },
          { count: 1, groups: ['b'] },
        ],
      },
    });
    expect(story.vote('bob', {}, { groups: ['b'] }).reason()).toBe('not-ready');
    story.vote('ada', {}, { groups: ['a'] }).vote('bob', {}, { groups: ['b'] });
    expect(story.concluded().last()).toMatchObject({ decision: 'approved', steps: 2 });
  });
});

describe('one after the other', () => {
  const ordered = () =>
    new Story({
      approvers: {
        inOrder: [
          { count: 1, groups: ['a'] },
          { count: 2, groups: ['b'] },
        ],
      },
    });
  const first = { groups: ['a'] };
  const second = { groups: ['b'] };

  it('who voted before the first had to vote again votes again', () => {
    const story = ordered().vote('ada', {}, first).vote('bob', {}, second).withdraw('ada').vote('ann', {}, first);
    expect(story.vote('bob', {}, second).types()).toHaveLength(5);
    expect(story.vote('bob', {}, second).types()).toHaveLength(5);
    expect(story.vote('carl', {}, second).concluded().last()).toMatchObject({ decision: 'approved', steps: 6 });
  });
});

describe('an approval that is held', () => {
  it('is decided only after its hold', () => {
    const story = held().vote('ada');
    expect(story.last()).toMatchObject({ closes: 'approved', heldUntil: after(160) });
    expect(story.concluded(after(200)).types()).toEqual(['ApprovalVoteCast']);
    story.time(endHold, after(159));
    expect(story.types()).toEqual(['ApprovalVoteCast']);
    story.time(endHold, after(160)).concluded(after(161));
    expect(story.types()).toEqual(['ApprovalVoteCast', 'ApprovalHoldEnded', 'ToolApprovalDecided']);
    expect(story.last()).toMatchObject({ decision: 'approved', steps: 2, usableUntil: after(161 + 86_400) });
  });

  it('can be undone until then, and then no more', () => {
    const undone = held().vote('ada').withdraw('ada', after(159)).time(endHold, after(200)).concluded(after(200));
    expect(undone.types()).toEqual(['ApprovalVoteCast', 'ApprovalVoteWithdrawn']);
    expect(held().vote('ada').withdraw('ada', after(160)).reason()).toBe('superseded');
    expect(held().vote('ada').time(endHold, after(160)).withdraw('ada', after(160)).reason()).toBe('superseded');
  });

  it('was approved in time: who objects after the deadline is told so, and that only its voter can undo it', () => {
    const late = held()
      .vote('ada', {}, { at: after(86_399) })
      .vote('bob', { decision: 'deny' }, { at: after(86_401) });
    expect(late.reason()).toBe('superseded');
    expect(late.detail()).toContain('held');
  });

  it('is in the name and words of those whose votes stand for it', () => {
    const story = new Story({ approvers: { count: 1 }, holdSeconds: 60 })
      .vote('ada', { reason: 'ada says fine' })
      .vote('bob', { reason: 'too late' });
    expect(story.reason()).toBe('superseded');
    const two = new Story({
      approvers: { count: 2 },
      holdSeconds: 60,
      escalate: [{ afterSeconds: 60, approvers: { count: 1 } }],
    })
      .vote('ada', { reason: 'ada says fine' }, { at: after(50) })
      .time(escalateApproval, after(60));
    expect(two.time(endHold, after(120)).concluded(after(120)).last()).toMatchObject({ reason: 'ada says fine' });
  });

  it('is said to be held only while it can be undone', () => {
    const late = held()
      .vote('ada')
      .vote('bob', { decision: 'deny' }, { at: after(160) });
    expect([late.reason(), late.detail()]).toEqual(['superseded', 'It was approved already']);
  });

  it('does not hold a no', () =>
    expect(held().vote('ada', { decision: 'deny' }).concluded().last()).toMatchObject({ decision: 'denied' }));

  it('does not expire', () => {
    const story = held()
      .vote('ada', {}, { at: after(86_399) })
      .time(expireApproval, after(86_401));
    expect(story.types()).toEqual(['ApprovalVoteCast']);
  });
});

describe('time', () => {
  const stages = [{ afterSeconds: 60, approvers: { count: 1, subjects: ['boss'] } }];
  const staged = () => new Story({ approvers: { count: 2, groups: ['a'] }, escalate: stages });

  it('brings in those of the next stage, once', () => {
    const story = staged().time(escalateApproval, after(59));
    expect(story.types()).toEqual([]);
    expect(story.vote('boss').reason()).toBe('forbidden');
    story.time(escalateApproval, after(60)).time(escalateApproval, after(600));
    expect(story.types()).toEqual(['ApprovalEscalated']);
    expect(story.last()).toEqual({ approvalId: CALL, n: 1, stage: 1, because: 'time' });
    expect(story.vote('boss').concluded().last()).toMatchObject({ decision: 'approved', steps: 2 });
  });

  it('brings in a stage for which the votes that there were are enough', () => {
    const story = new Story({ approvers: { count: 2 }, escalate: [{ afterSeconds: 60, approvers: { count: 1 } }] });
    story.vote('ada', { reason: 'fine' }, { at: after(10) }).time(escalateApproval, after(60));
    expect(story.last()).toMatchObject({ stage: 1, closes: 'approved' });
    expect(story.last()).not.toHaveProperty('heldUntil');
    expect(story.vote('bob', { decision: 'deny' }).reason()).toBe('superseded');
    expect(story.time(expireApproval, after(86_400)).concluded(after(61)).last()).toMatchObject({
      decision: 'approved',
      reason: 'fine',
      steps: 2,
    });
  });

  it('holds what such a stage came to, and it can be undone', () => {
    const escalate = [{ afterSeconds: 60, approvers: { count: 1 } }];
    const story = () =>
      new Story({ approvers: { count: 2 }, escalate, holdSeconds: 30 })
        .vote('ada', {}, { at: after(10) })
        .time(escalateApproval, after(60));
    expect(story().last()).toMatchObject({ closes: 'approved', heldUntil: after(90) });
    expect(story().withdraw('ada', after(89)).concluded(after(100)).types()).toEqual([
      'ApprovalVoteCast',
      'ApprovalEscalated',
      'ApprovalVoteWithdrawn',
    ]);
    expect(story().time(endHold, after(90)).concluded(after(90)).last()).toMatchObject({ decision: 'approved' });
  });

  it('does not bring in a stage over what it came to before', () => {
    const escalate = [{ afterSeconds: 60, approvers: { count: 1, groups: ['a'] } }];
    const story = new Story({ approvers: { count: 2 }, escalate }).vote('ada').time(escalateApproval, after(60));
    expect(story.last()).not.toHaveProperty('closes');
  });

  it('brings them in at once where those before can never be enough', () => {
    const asked = requested({ agent: { id: 'a', onBehalfOf: 'Ada' } });
    const named = { approvers: { count: 1, subjects: ['ada'] }, escalate: stages };
    expect(new Story(named, asked).time(escalateApproval, after(1)).last()).toMatchObject({ because: 'unmeetable' });
    expect(new Story(named).time(escalateApproval, after(1)).types()).toEqual([]);
  });

  it('expires what the votes did not close', () =>
    expect(two().vote('ada').time(expireApproval, after(86_400)).last()).toMatchObject({
      decision: 'expired',
      steps: 1,
    }));

  it('leaves to the votes what they have closed', () => {
    const story = two().vote('ada').vote('bob').time(expireApproval, after(86_400));
    expect(story.types()).toEqual(['ApprovalVoteCast', 'ApprovalVoteCast']);
  });

  it('does not approve sooner because the agent wants it sooner', () => {
    const story = new Story({ approvers: { count: 1 }, onExpiry: 'approve' }, requested({ expiresInSeconds: 5 }));
    expect(story.time(expireApproval, after(6)).last()).toMatchObject({ decision: 'expired' });
  });

  it('brings in a stage of two, of whom the editor is none', () => {
    const pair = { afterSeconds: 60, approvers: { count: 2, subjects: ['boss', 'chief'] } };
    const story = new Story({ approvers: { count: 1, groups: ['a'] }, escalate: [pair] });
    story.time(escalateApproval, after(60)).vote('boss', { updatedInput: EDIT }).vote('chief', { argsDigest: EDITED });
    expect(story.concluded().types()).not.toContain('ToolApprovalDecided');
  });

  it('approves where the policy says so, but not against a no, and no edit', () => {
    const lenient = () => two({ approvers: { count: 2, denyCount: 2 }, onExpiry: 'approve' });
    const expired = (story: Story) => story.time(expireApproval, after(86_400)).last();
    expect(expired(lenient())).toMatchObject({ decision: 'approved' });
    expect(expired(lenient().vote('ada', { decision: 'deny' }))).toMatchObject({ decision: 'expired' });
    expect(expired(lenient().vote('ada', { updatedInput: EDIT }))).toMatchObject({ decision: 'expired' });
  });

  it('does not approve what somebody thought better of', () => {
    const story = new Story({ approvers: { count: 1 }, onExpiry: 'approve', expiresInSeconds: 60, holdSeconds: 120 });
    const undone = story.vote('ada', {}, { at: after(50) }).withdraw('ada', after(100));
    expect(undone.time(expireApproval, after(101)).last()).toMatchObject({ decision: 'expired' });
  });
});

describe('the end of the turn', () => {
  const after2 = (...votes: readonly Asking[]) => {
    const story = two();
    votes.forEach((said, index) => story.vote(`p${index}`, said));
    return closeApproval({ approvalId: CALL }, stateAfter(...story.told(), ended()));
  };
  it('cancels what the votes have not closed', () =>
    expect(after2({})).toMatchObject({ event: { data: { decision: 'cancelled', steps: 1 } } }));
  it('leaves to the votes what they have closed', () =>
    expect(after2({}, {})).toMatchObject({ kind: 'nothing-to-do' }));
});

describe('an edit and the policy', () => {
  const rule = (id: string, when: string, then: 'deny' | 'require' | 'approve', require?: Requirement) => ({
    id,
    tools: ['*'],
    when,
    then,
    ...(require ? { require } : {}),
  });
  const editTo = (amount: number, ...rules: ReturnType<typeof rule>[]) => {
    const state = stateAfter(published({ approvers: { count: 1 } }, rules), requested());
    const command = { approvalId: CALL, decision: 'approve', updatedInput: { ...ARGS, amount } } as const;
    return decideApproval(command, state, by('ada'));
  };

  it('to what a rule denies is refused', () =>
    expect(editTo(1_000, rule('r', 'args.amount > 100.0', 'deny'))).toMatchObject({
      refusal: { reason: 'invalid-edit' },
    }));
  it('to what needs more people is refused', () =>
    expect(editTo(1_000, rule('r', 'args.amount > 100.0', 'require', { approvers: { count: 2 } }))).toMatchObject({
      refusal: { reason: 'invalid-edit' },
    }));
  it('to what needs nobody is one', () =>
    expect(editTo(1, rule('r', 'args.amount < 2.0', 'approve'))).toMatchObject({ kind: 'accept' }));
});
