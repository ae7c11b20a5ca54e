import { describe, expect, it } from '@jest/globals';
import fc, { type Arbitrary } from 'fast-check';
import { samePerson, type Instant } from '#contracts/ids';
import type { Step, VoteStep } from '#fold/approval';
import { fewest, GROUPS, NAMES, quorums, SAME } from './arbitraries-for-spec.js';
import { tally } from './quorum.js';
import { personOf, standing } from './votes.js';

const NOON = '2026-01-01T12:00:00.000Z' as Instant;
const applied = { policyVersion: 0, engineVersion: '1', hash: 'h' };
const happened = (by: string) => ({ by, at: NOON, seq: 1, eventId: 'e', n: 1 });
const vote = (by: string, more: Partial<VoteStep> = {}): VoteStep => ({
  is: 'vote',
  vote: 'approve',
  argsDigest: 'asked',
  groups: [],
  requirement: applied,
  requestSeq: 1,
  ...happened(by),
  ...more,
});
const deny = (by: string): VoteStep => vote(by, { vote: 'deny' });
const edit = (by: string, argsDigest: string): VoteStep => vote(by, { argsDigest, editedArgs: { as: argsDigest } });
const withdrawn = (by: string): Step => ({ is: 'withdrawn', ...happened(by) });

const after = (...steps: Step[]) => standing(steps, { argsDigest: 'asked' });
const names = (votes: readonly VoteStep[]) => votes.map(({ by }) => by);
const approve = (...steps: Step[]) => names(after(...steps).approvals);

describe('votes stand', () => {
  it('in their order', () => expect(approve(vote('ada'), vote('bob'))).toEqual(['ada', 'bob']));
  it('for what was asked', () => expect(after().proposal).toEqual({ argsDigest: 'asked' }));
  it('each person has one, the latest, at its place', () =>
    expect(approve(vote('ada'), vote('bob'), vote('ada'))).toEqual(['bob', 'ada']));
  it('whatever the case and form of the name', () =>
    expect(approve(vote('Zo\u00cb'), vote('bob'), vote('zoe\u0308'))).toEqual(['bob', 'zoe\u0308']));
  it('an approval gives way to a denial', () =>
    expect(after(vote('ada'), deny('ada'))).toMatchObject({ approvals: [], denials: [{ by: 'ada' }] }));
  it('and a denial to an approval', () =>
    expect(after(deny('ada'), vote('ada'))).toMatchObject({ approvals: [{ by: 'ada' }], denials: [] }));
  it('everything but an approval is a denial', () =>
    expect(
      names(after(deny('ada'), vote('bob', { vote: 'respond' }), vote('cyd', { vote: 'cancel' })).denials),
    ).toEqual(['ada', 'bob', 'cyd']));
  it('with the groups that the token named', () =>
    expect(personOf(vote('ada', { groups: ['ops'] }))).toEqual({ subject: 'ada', groups: ['ops'] }));
  it('though it escalates or its hold ends', () => {
    const between: Step[] = [
      { is: 'escalated', stage: 1, because: 'time', ...happened('timer') },
      { is: 'hold-ended', ...happened('timer') },
    ];
    expect(approve(vote('ada'), ...between)).toEqual(['ada']);
  });
});

describe('a vote that is withdrawn', () => {
  it('counts no more', () => expect(approve(vote('ada'), vote('bob'), withdrawn('ada'))).toEqual(['bob']));
  it('whatever the case of the name', () => expect(approve(vote('ada'), withdrawn('ADA'))).toEqual([]));
  it('is no denial any more', () => expect(after(deny('ada'), withdrawn('ada')).denials).toEqual([]));
  it('can be cast again', () => expect(approve(vote('ada'), withdrawn('ada'), vote('ada'))).toEqual(['ada']));
});

describe('an edit', () => {
  it('is what is voted on then', () =>
    expect(after(edit('Ada', 'new')).proposal).toEqual({ argsDigest: 'new', args: { as: 'new' }, editor: 'ada' }));
  it('voids the approvals before it', () =>
    expect(approve(vote('ada'), vote('bob'), edit('cyd', 'new'))).toEqual(['cyd']));
  it('is approved by who names it', () =>
    expect(approve(edit('cyd', 'new'), vote('ada', { argsDigest: 'new' }), vote('bob'))).toEqual(['cyd', 'ada']));
  it('leaves the denials', () => expect(names(after(deny('ada'), edit('cyd', 'new')).denials)).toEqual(['ada']));
  it('of an edit voids it and those who approved it', () =>
    expect(approve(edit('ada', 'new'), vote('bob', { argsDigest: 'new' }), edit('cyd', 'newer'))).toEqual(['cyd']));
  it('back to an earlier text does not bring its approvals back', () =>
    expect(approve(edit('ada', 'new'), edit('bob', 'newer'), edit('cyd', 'new'))).toEqual(['cyd']));
});

describe('an edit that is taken back', () => {
  const taken = after(
    vote('bob'),
    deny('dan'),
    edit('ada', 'new'),
    vote('eve', { argsDigest: 'new' }),
    withdrawn('ADA'),
  );
  it('is no more: it is about what was asked', () => expect(taken.proposal).toEqual({ argsDigest: 'asked' }));
  it('takes the approvals with it', () => expect(taken.approvals).toEqual([]));
  it('leaves the denials', () => expect(names(taken.denials)).toEqual(['dan']));
  it('after another edit leaves that one', () =>
    expect(after(edit('ada', 'new'), edit('bob', 'newer'), withdrawn('ada'))).toMatchObject({
      proposal: { argsDigest: 'newer' },
      approvals: [{ by: 'bob' }],
    }));
});

describe('whatever happens', () => {
  const by = fc.constantFrom(...NAMES, ...NAMES.map((name) => name.toUpperCase()));
  const step: Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(by, fc.subarray(GROUPS)).map(([one, groups]) => vote(one, { groups })) },
    by.map(deny),
    by.map(withdrawn),
    fc.tuple(by, fc.constantFrom('new', 'newer')).map(([one, digest]) => edit(one, digest)),
    fc.tuple(by, fc.constantFrom('new', 'newer')).map(([one, argsDigest]) => vote(one, { argsDigest })),
  );
  const steps = fc.array(step, { maxLength: 14 });
  const always = <Values>(property: fc.IProperty<Values>) => fc.assert(property, SAME);

  it('nobody has two votes, and all approve the same', () =>
    always(
      fc.property(steps, (all) => {
        const { approvals, denials, proposal } = after(...all);
        const voters = [...approvals, ...denials].map((one) => samePerson(one.by));
        expect(new Set(voters).size).toBe(voters.length);
        expect(approvals.every(({ argsDigest }) => argsDigest === proposal.argsDigest)).toBe(true);
      }),
    ));
  it('each vote is the last word of who cast it', () =>
    always(
      fc.property(steps, (all) => {
        const { approvals, denials } = after(...all);
        for (const one of [...approvals, ...denials])
          expect(all.findLast((other) => samePerson(other.by) === samePerson(one.by))).toBe(one);
      }),
    ));
  it('no quorum is met by fewer people than it has places', () =>
    always(
      fc.property(quorums, steps, (quorum, all) => {
        const { approvals } = after(...all);
        const distinct = new Set(approvals.map((one) => samePerson(one.by))).size;
        if (tally(quorum, approvals.map(personOf)).met) expect(distinct).toBeGreaterThanOrEqual(fewest(quorum));
      }),
    ));
  it('taking one away meets no quorum', () =>
    always(
      fc.property(quorums, steps, by, (quorum, all, who) => {
        const isMet = (some: readonly Step[]) => tally(quorum, after(...some).approvals.map(personOf)).met;
        if (!isMet(all)) expect(isMet([...all, withdrawn(who)])).toBe(false);
      }),
    ));
});
