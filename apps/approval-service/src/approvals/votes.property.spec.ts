import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ApprovalVoteCast } from '#contracts/approvals/events';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { samePerson } from '#contracts/ids';
import type { Quorum } from '#contracts/policies/policy';
import { subjects } from '#contracts/subjects';
import type { Request } from '#event-log/handle-command';
import { MemoryLog } from '#event-log/memory-log';
import { readStory } from '#fold/read';
import { PoliciesInForce } from '#policy/in-force';
import type { ByCaller } from './domain/call.js';
import { after, by, CALL, published, recordedAt, requested, TENANT } from './domain/stories-for-spec.js';
import { decide, withdraw } from './handlers.js';

const GROUPS = ['red', 'blue'];
/** The third is the requester; the last two are one person. */
const PEOPLE = ['ada', 'bob', 'demo-agent', 'carl', 'dora', 'Ada'];

const leaf: fc.Arbitrary<Quorum> = fc.record(
  {
    count: fc.integer({ min: 1, max: 3 }),
    groups: fc.subarray(GROUPS, { minLength: 1 }),
    subjects: fc.subarray(['ada', 'bob', 'carl'], { minLength: 1 }),
  },
  { requiredKeys: ['count'] },
);
const quorum: fc.Arbitrary<Quorum> = fc.oneof(
  leaf,
  fc.record({ all: fc.array(leaf, { minLength: 1, maxLength: 2 }) }),
  fc.record({ any: fc.array(leaf, { minLength: 1, maxLength: 2 }) }),
);
const act = fc.record({
  who: fc.constantFrom(...PEOPLE),
  what: fc.constantFrom('approve', 'approve', 'approve', 'deny', 'withdraw'),
  groups: fc.subarray(GROUPS),
});
type Act = { readonly who: string; readonly what: string; readonly groups: readonly string[] };

function requestBy<Command extends object>(who: string, groups: readonly string[], command: Command) {
  const context: ByCaller = { caller: { ...by(who).caller, groups } };
  const actor = { kind: 'person', id: who, via: 'token:test' } as const;
  return { command: { approvalId: CALL, ...command }, context, tenant: TENANT, actor, causationId: 'test' };
}

/** Everybody acts at once: the log alone orders them. */
async function storyOf(required: Quorum, acts: readonly Act[]): Promise<Recorded<HoldpointEvent>[]> {
  const log = new MemoryLog();
  await log.append(recordedAt(published({ approvers: required }), 0));
  await log.append(recordedAt(requested(), 0));
  const services = {
    log,
    clock: () => Date.parse(after(100)),
    policies: new PoliciesInForce(log),
    refusedTries: { counted: () => undefined, unrecorded: () => undefined },
  };
  await Promise.all(
    acts.map(({ who, what, groups }) =>
      what === 'withdraw'
        ? withdraw(services, requestBy(who, groups, {}))
        : decide(services, requestBy(who, groups, { decision: what as 'approve' }) as Request<never, ByCaller>),
    ),
  );
  return readStory(log, subjects.story(TENANT, CALL));
}

/** Whether different people can fill all places, told without matching: every way of seating them is tried. */
function isMet(required: Quorum, voters: readonly Voter[], names: readonly string[]): boolean {
  const places = (one: Quorum): Quorum[][] => {
    if (one.any) return one.any.flatMap(places);
    if (one.all) return one.all.map(places).reduce((a, b) => a.flatMap((x) => b.map((y) => [...x, ...y])), [[]]);
    return [Array.from({ length: one.count ?? 1 }, () => one)];
  };
  const fits = (place: Quorum, at: number): boolean => {
    if (!place.groups && !place.subjects) return true;
    const named = place.subjects?.some((name) => samePerson(name) === names[at]) === true;
    return named || place.groups?.some((group) => voters[at]?.groups.includes(group)) === true;
  };
  const seated = (rest: readonly Quorum[], free: readonly number[]): boolean => {
    const [place, ...others] = rest;
    return (
      !place ||
      free.some(
        (at) =>
          fits(place, at) &&
          seated(
            others,
            free.filter((one) => one !== at),
          ),
      )
    );
  };
  return places(required).some((way) => seated(way, [...voters.keys()]));
}

function standingApprovals(story: readonly Recorded<HoldpointEvent>[]) {
  const votes = new Map<string, ApprovalVoteCast>();
  for (const { event, actor } of story) {
    if (event.type === 'ApprovalVoteCast') votes.set(samePerson(actor.id), event.data);
    if (event.type === 'ApprovalVoteWithdrawn') votes.delete(samePerson(actor.id));
  }
  return new Map([...votes].filter(([, vote]) => vote.vote === 'approve'));
}

const isDecided = ({ event }: Recorded<HoldpointEvent>) => event.type === 'ToolApprovalDecided';

describe('for any requirement, any people and any order', () => {
  it('there is one decision at most, and it is never approved without enough different people, nor by the requester', () =>
    fc.assert(
      fc.asyncProperty(quorum, fc.array(act, { minLength: 1, maxLength: 10 }), async (required, acts) => {
        const story = await storyOf(required, acts);
        const decisions = story.filter(isDecided);
        expect(decisions.length).toBeLessThanOrEqual(1);
        for (const { actor } of story.filter(({ event }) => event.type !== 'DecisionRefused'))
          expect(samePerson(actor.id)).not.toBe('demo-agent');
        const [decision] = decisions;
        if (decision?.event.type !== 'ToolApprovalDecided' || decision.event.data.decision !== 'approved') return;
        const met =
          decision.event.data.steps === undefined
            ? actsOf(decision.actor.id, acts).some((vote) => isMet(required, [vote], [samePerson(decision.actor.id)]))
            : isMetBy(required, standingApprovals(story.filter(({ seq }) => seq < decision.seq)));
        expect({ required, met }).toEqual({ required, met: true });
      }),
      { numRuns: 300 },
    ));
});

type Voter = Pick<ApprovalVoteCast, 'groups'>;

const isMetBy = (required: Quorum, approvals: ReadonlyMap<string, ApprovalVoteCast>): boolean =>
  isMet(required, [...approvals.values()], [...approvals.keys()]);

/** One act decided: by them alone, as one of their tokens said. */
const actsOf = (who: string, acts: readonly Act[]): Voter[] =>
  acts.filter((one) => samePerson(one.who) === samePerson(who)).map(({ groups }) => ({ groups: [...groups] }));
