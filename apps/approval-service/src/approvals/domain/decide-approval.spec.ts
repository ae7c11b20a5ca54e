import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DecideApproval } from '#contracts/approvals/commands';
import { ANSWERS } from '#contracts/approvals/events';
import { DECISIONS } from '#contracts/approvals/events';
import { digestOf } from '#contracts/canonical';
import { approvalIdOf } from '#contracts/ids';
import { decideApproval } from './decide-approval.js';
import {
  after,
  approved,
  ARGS,
  by,
  CALL,
  DAY,
  DEFAULT_APPLIED,
  decided,
  DIGEST,
  ended,
  expired,
  given,
  published,
  requested,
  revoked,
  started,
  TURN_KEY,
  type Told,
} from './stories-for-spec.js';

const say = (decision: DecideApproval['decision'], more: Partial<DecideApproval> = {}): DecideApproval => ({
  approvalId: CALL,
  decision,
  ...more,
});
const approve = say('approve');
const when = (facts: readonly Told[], command: DecideApproval, context = by('ada')) =>
  given(...facts).when(decideApproval, command, context);
const EDIT = { amount: 5, to: 'x@example.com' };
const SCHEMA = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };

describe('a pending approval', () => {
  it('is approved', () => void when([requested()], approve).then('ToolApprovalDecided', { decision: 'approved' }));
  it('is denied with a reason', () =>
    void when([requested()], say('deny', { reason: 'no' })).then('ToolApprovalDecided', {
      decision: 'denied',
      reason: 'no',
    }));
  it('is denied without one', () =>
    void when([requested()], say('deny')).then('ToolApprovalDecided', { decision: 'denied' }));
  it('is cancelled', () =>
    void when([requested()], say('cancel')).then('ToolApprovalDecided', { decision: 'cancelled' }));
  it('is responded to', () =>
    void when([requested()], say('respond', { response: 0 })).then('ToolApprovalDecided', {
      decision: 'responded',
      response: 0,
    }));
  it('is responded to with null, which is an answer', () =>
    void when([requested()], say('respond', { response: null })).then('ToolApprovalDecided', { response: null }));
  it('says which arguments, which requirement and which request were decided on', () =>
    expect(when([requested()], approve).event()).toEqual({
      approvalId: CALL,
      decision: 'approved',
      argsDigest: DIGEST,
      requirement: DEFAULT_APPLIED,
      requestSeq: 1,
      usableUntil: after(100 + DAY),
    }));
  it('is decided by who saw the very arguments', () =>
    void when([requested()], { ...approve, argsDigest: DIGEST }).then('ToolApprovalDecided', {}));
  it('is decided in the last millisecond', () =>
    void when([requested()], approve, by('ada', after(DAY - 0.001))).then('ToolApprovalDecided', {}));
});

describe('nobody decides', () => {
  it('what the log does not have', () => void when([], approve).thenRefused('not-found'));
  it('a call beyond those of the turn', () =>
    void when([requested()], { ...approve, approvalId: approvalIdOf(TURN_KEY, 1) }).thenRefused('not-found'));
  it('at the deadline', () =>
    void when([requested()], approve, by('ada', after(DAY))).thenRefused('late', { at: after(DAY) }));
  it('after the shorter deadline of the request', () =>
    void when([requested({ expiresInSeconds: 30 })], approve, by('ada', after(30))).thenRefused('late'));
  it('nor cancels it after the deadline', () =>
    void when([requested()], say('cancel'), by('ada', after(DAY))).thenRefused('late'));
  it('what has expired', () => void when([requested(), expired], approve).thenRefused('late'));
  it('what another decided: here is who', () =>
    void when([requested(), decided('denied', 'bob')], approve).thenRefused('superseded', {
      winner: { decision: 'denied', by: 'bob', at: after(60), seq: 2 },
    }));
  it('in a turn that has ended', () => void when([requested(), ended()], approve).thenRefused('turn-ended'));
  it('with other arguments than were asked about', () =>
    void when([requested()], { ...approve, argsDigest: digestOf(EDIT) }).thenRefused('arguments-changed'));
});

describe('one who asked for it', () => {
  it.each(ANSWERS)('may not %s', (decision) =>
    when([requested()], say(decision, { response: 1 }), by('Demo-Agent')).thenRefused('self-approval'),
  );
  it('may not as the owner of the agent', () =>
    void when([requested({ owner: 'Ada' })], approve).thenRefused('self-approval'));
  it('may not as whom the agent acts for', () =>
    void when([requested({ agent: { id: 'a', onBehalfOf: 'ADA' } })], approve).thenRefused('self-approval'));
});

describe('the same again', () => {
  it('by the same person is a duplicate', () => void when([requested(), approved], approve, by('ADA')).thenNothing());
  it('is one after the deadline too', () =>
    void when([requested(), approved], approve, by('ada', after(2 * DAY))).thenNothing());
  it('is one after the turn ended, the tool ran or it was taken back', () => {
    for (const fact of [ended(), started, revoked('bob')]) when([requested(), approved, fact], approve).thenNothing();
  });
  it('by another is not', () => void when([requested(), approved], approve, by('bob')).thenRefused('superseded'));
  it('is not where a policy decided under the same name', () =>
    void when([requested(), decided('approved', 'ada', {}, 'policy')], approve).thenRefused('superseded'));
  it('with another reason is not', () =>
    void when([requested(), decided('denied', 'ada', { reason: 'a' })], say('deny', { reason: 'b' })).thenRefused(
      'superseded',
    ));
  it('with another answer is not', () =>
    void when([requested(), decided('responded', 'ada', { response: 1 })], say('respond', { response: 2 })).thenRefused(
      'superseded',
    ));
  it('with an edit is not', () =>
    void when([requested(), approved], { ...approve, updatedInput: EDIT }).thenRefused('superseded'));
  it('with the same edit is', () =>
    void when([requested(), decided('approved', 'ada', { editedArgs: EDIT, argsDigest: digestOf(EDIT) })], {
      ...approve,
      updatedInput: { to: EDIT.to, amount: EDIT.amount },
    }).thenNothing());
  it('as another decision is not', () => void when([requested(), approved], say('deny')).thenRefused('superseded'));
});

describe('an edit', () => {
  it('is what may run, by its own digest', () =>
    void when([requested()], { ...approve, updatedInput: EDIT }).then('ToolApprovalDecided', {
      editedArgs: EDIT,
      argsDigest: digestOf(EDIT),
    }));
  it('that changes nothing is none', () =>
    expect(
      when([requested({}, { inputSchema: false as never })], { ...approve, updatedInput: { ...ARGS } }).event(),
    ).not.toHaveProperty('editedArgs'));
  it.each(['deny', 'respond', 'cancel'] as const)('does not go with %s', (decision) =>
    when([requested()], say(decision, { updatedInput: EDIT, response: 1 })).thenRefused('invalid-input', {
      errors: [{ path: 'updatedInput', message: 'goes with "approve" only' }],
    }),
  );
  it('must satisfy the schema of the tool', () =>
    void when([requested({}, { inputSchema: SCHEMA })], { ...approve, updatedInput: EDIT }).then(
      'ToolApprovalDecided',
      {},
    ));
  it('that does not is refused, with the path', () =>
    expect(
      when([requested({}, { inputSchema: SCHEMA })], { ...approve, updatedInput: { amount: 'all' } }).refusal(),
    ).toMatchObject({ reason: 'invalid-edit', errors: [{ path: 'updatedInput.amount' }] }));
  it('is refused where the schema cannot be used', () =>
    void when([requested({}, { inputSchema: { type: 'nonsense' } })], { ...approve, updatedInput: EDIT }).thenRefused(
      'invalid-edit',
    ));
  it('over 1 MiB in canonical form is refused', () =>
    void when([requested()], { ...approve, updatedInput: { text: 'x'.repeat(1_048_576) } }).thenRefused('too-large'));
  it('of half of that is not', () =>
    void when([requested()], { ...approve, updatedInput: { text: 'x'.repeat(524_288) } }).then(
      'ToolApprovalDecided',
      {},
    ));
});

describe('a response', () => {
  it('must be there to respond', () =>
    void when([requested()], say('respond')).thenRefused('invalid-input', {
      errors: [{ path: 'response', message: 'must be there with "respond"' }],
    }));
  it.each(['approve', 'deny', 'cancel'] as const)('does not go with %s', (decision) =>
    when([requested()], say(decision, { response: null })).thenRefused('invalid-input', {
      errors: [{ path: 'response', message: 'goes with "respond" only' }],
    }),
  );
});

describe('whatever is said', () => {
  const words = fc.record(
    {
      approvalId: fc.constant(CALL),
      decision: fc.constantFrom(...ANSWERS),
      reason: fc.string(),
      response: fc.jsonValue(),
      updatedInput: fc.dictionary(fc.string(), fc.jsonValue()),
    },
    { requiredKeys: ['approvalId', 'decision'] },
  );

  it('sent twice it records once', () =>
    void fc.assert(
      fc.property(words, (command) => {
        const event = when([requested()], command).event();
        if (!event) return;
        const written: Told = { ...approved, event: { type: 'ToolApprovalDecided', data: event as never } };
        when([requested(), written], command).thenNothing();
      }),
    ));
  it('a closed approval never changes', () =>
    void fc.assert(
      fc.property(words, fc.constantFrom(...DECISIONS), fc.constantFrom('ada', 'bob'), (command, decision, who) => {
        expect(when([requested(), decided(decision, 'ada')], command, by(who)).event()).toBeUndefined();
      }),
    ));
});

describe('what is remembered with it', () => {
  const remember = { scope: { tool: 'pay' }, maxUses: 3 };
  const remembering = { ...approve, remember };
  const given = when([requested()], remembering).event();
  const again = (command: DecideApproval, context = by('ada', after(900))) => {
    const fact = decided('approved', 'ada', { ...(given as object) });
    return when([requested(), { ...fact, at: after(100) }], command, context);
  };

  it('is in the decision', () =>
    expect(given).toMatchObject({ decision: 'approved', remember: { scope: { tool: 'pay' }, maxUses: 3 } }));
  it('goes with "approve" only', () => {
    for (const decision of ['deny', 'cancel'] as const)
      when([requested()], { ...say(decision), remember }).thenRefused('invalid-input', {
        errors: [{ path: 'remember', message: 'goes with "approve" only' }],
      });
    when([requested()], { ...say('respond', { response: 1 }), remember }).thenRefused('invalid-input');
  });
  it('does not go with other arguments', () =>
    void when([requested()], { ...remembering, updatedInput: EDIT }).thenRefused('invalid-input'));
  it('must be of the call', () =>
    void when([requested()], { ...approve, remember: { scope: { tool: 'mail' } } }).thenRefused('invalid-input'));
  it('is forbidden where one approval is not enough', () => {
    const two = published({ approvers: { count: 2 } });
    when([two, requested()], remembering).thenRefused('forbidden');
    when([two, requested()], approve).then('ApprovalVoteCast', {});
  });
  it('is the same again by the same person, at any later time', () => void again(remembering).thenNothing());
  it('is not the same without it, with another, or by another', () => {
    again(approve).thenRefused('superseded');
    again({ ...approve, remember: { ...remember, maxUses: 4 } }).thenRefused('superseded');
    again({ ...approve, remember: { ...remember, expiresInSeconds: 60 } }).thenRefused('superseded');
    again({ ...approve, remember: { ...remember, scope: { tool: 'pay', agent: 'x' } } }).thenRefused('superseded');
    again(remembering, by('bob', after(900))).thenRefused('superseded');
  });
  it('is not the same where nothing was remembered', () =>
    void when([requested(), approved], remembering).thenRefused('superseded'));
  it('is the same with another token of the same person', () =>
    void again(remembering, by('Ada', after(900), { groups: ['ops'] })).thenNothing());
});
