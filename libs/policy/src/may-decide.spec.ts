import { describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import { grantIdOf, turnKeyOf, type Instant, type Tenant, type TokenId } from '#contracts/ids';
import type { Requirement } from '#contracts/policies/policy';
import type { ToolApprovalRequested } from '#contracts/turns/events';
import { NEW_APPROVAL, type Approval, type Decision } from '#fold/approval';
import { NEVER_TAKEN } from '#fold/lease';
import type { KnownTurn } from '#fold/turn';
import { compilePolicy } from './compiled.js';
import { mayNotDecide, type Doing, type Judged } from './may-decide.js';
import { ruleOn } from './ruling.js';

const AT = '2026-03-01T12:00:00.000Z' as Instant;
const TENANT = 'default' as Tenant;
const DIGEST = digestOf({});
const happened = { by: 'ada', at: AT, seq: 2, eventId: 'e' };
const ONE: Requirement = { approvers: { count: 1 } };

interface Story {
  readonly requirement?: Requirement;
  readonly request?: Partial<ToolApprovalRequested>;
  readonly approval?: Partial<Approval>;
}

function judged({ requirement = ONE, request = {}, approval = {} }: Story): Judged {
  const asked: ToolApprovalRequested = {
    turnKey: turnKeyOf(TENANT, 'conv', 't-1'),
    conversationId: 'conv',
    turnId: 't-1',
    agent: { id: 'billing-agent' },
    release: 'all',
    pool: 'default',
    toolCalls: [{ toolCallId: 'c', toolName: 'pay', args: {}, argsDigest: DIGEST }],
    digest: DIGEST,
    tokenId: 'tk' as TokenId,
    ...request,
  };
  const turn: KnownTurn = {
    state: 'open',
    request: asked,
    requestedBy: 'demo-agent',
    requestedAt: AT,
    requestSeq: 1,
    lease: NEVER_TAKEN,
    seq: 1,
  };
  const ruling = ruleOn(compilePolicy(1, { rules: [], default: requirement }), asked, { toolName: 'pay', args: {} });
  return { turn, ruling, approval: { ...NEW_APPROVAL, ...approval } };
}

const person = (subject: string, ...groups: string[]) => ({ subject, groups });
const says = (doing: Doing, story: Story = {}, who = person('ada'), isAdmin = false) =>
  mayNotDecide(judged(story), who, doing, isAdmin)?.reason ?? 'yes';

const escalated: Approval['steps'] = [{ is: 'escalated', n: 1, stage: 1, because: 'time', ...happened }];
const later: Requirement = {
  approvers: { count: 1, subjects: ['bob'] },
  escalate: [{ afterSeconds: 60, approvers: { count: 1, groups: ['ops'] } }],
};

describe.each(['answer', 'allow-others'] as const)('to %s', (doing) => {
  it('may whoever is asked', () => expect(says(doing)).toBe('yes'));
  it('may not who asked for it', () => expect(says(doing, {}, person('Demo-Agent'))).toBe('self-approval'));
  it('may not the owner of the agent', () => expect(says(doing, { request: { owner: 'ADA' } })).toBe('self-approval'));
  it('may not whom the agent acts for', () =>
    expect(says(doing, { request: { agent: { id: 'a', onBehalfOf: 'Ada' } } })).toBe('self-approval'));
  it('may not who asked for it, as an admin either', () =>
    expect(says(doing, {}, person('demo-agent'), true)).toBe('self-approval'));
  it('may not whom the policy does not ask', () =>
    expect(says(doing, { requirement: { approvers: { count: 1, subjects: ['bob'] } } })).toBe('forbidden'));
  it('may whom it names', () =>
    expect(says(doing, { requirement: { approvers: { count: 1, subjects: ['Ada'] } } })).toBe('yes'));
  it('may whose group it names', () => {
    const requirement = { approvers: { count: 1, groups: ['ops'] } };
    expect([person('ada', 'ops'), person('ada', 'pay')].map((who) => says(doing, { requirement }, who))).toEqual([
      'yes',
      'forbidden',
    ]);
  });
});

describe('who is asked at a stage', () => {
  const who = person('ada', 'ops');
  const reached = { requirement: later, approval: { steps: escalated } };
  it('may answer once it is reached', () =>
    expect([says('answer', { requirement: later }, who), says('answer', reached, who)]).toEqual(['forbidden', 'yes']));
  it('allows no others by that: they have reached none', () =>
    expect(says('allow-others', reached, who)).toBe('forbidden'));
});

describe('where one act is not the decision', () => {
  const many: readonly (readonly [string, Requirement])[] = [
    ['two are needed', { approvers: { count: 2 } }],
    ['others are needed too', { approvers: { all: [{ count: 1 }, { count: 1, groups: ['ops'] }] } }],
    ['others are asked first', { approvers: { inOrder: [{ count: 1 }, { count: 1 }] } }],
    ['it is held', { ...ONE, holdSeconds: 60 }],
    ['two are needed at a later stage', { ...ONE, escalate: [{ afterSeconds: 60, approvers: { count: 2 } }] }],
    ['one no is not enough', { approvers: { count: 1, denyCount: 2 } }],
  ];
  it.each(many)('one may answer, and allow no others: %s', (_, requirement) => {
    expect(says('answer', { requirement })).toBe('yes');
    expect(says('allow-others', { requirement })).toBe('forbidden');
  });
});

describe('to take back', () => {
  const decision: Decision = { is: 'approved', byKind: 'person', argsDigest: DIGEST, ...happened };
  const grant = { grantId: grantIdOf(TENANT, 'g'), n: 1, by: 'ada' };
  const back = (more: Partial<Decision>, who = 'ada', isAdmin = false) =>
    says('take-back', { approval: { decision: { ...decision, ...more } } }, person(who), isAdmin);

  it('may who approved it', () => expect(back({}, 'ADA')).toBe('yes'));
  it('may an admin', () => expect(back({}, 'root', true)).toBe('yes'));
  it('may not another', () => expect(back({}, 'bob')).toBe('forbidden'));
  it('may whose grant approved it', () =>
    expect(back({ byKind: 'grant', by: grant.grantId, grant }, 'Ada')).toBe('yes'));
  it('may not another than whose grant it was', () =>
    expect(back({ byKind: 'grant', by: grant.grantId, grant }, 'bob')).toBe('forbidden'));
  it('may not who is called as the grant', () =>
    expect(back({ byKind: 'grant', by: grant.grantId, grant }, grant.grantId)).toBe('forbidden'));
  it.each(['policy', 'timer'])('may not who is called as the %s that approved it', (byKind) =>
    expect(back({ byKind })).toBe('forbidden'),
  );
  it('may nobody but an admin before it is decided', () => {
    expect(says('take-back')).toBe('forbidden');
    expect(says('take-back', {}, person('root'), true)).toBe('yes');
  });
});
