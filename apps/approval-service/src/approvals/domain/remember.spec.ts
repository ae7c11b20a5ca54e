import { describe, expect, it } from '@jest/globals';
import type { DecideApproval } from '#contracts/approvals/commands';
import { grantIdOf } from '#contracts/ids';
import type { RequestedToolCall } from '#contracts/turns/events';
import { schemaDigestOf } from '#policy/grants';
import { callAfter, callOf } from './grant-stories-for-spec.js';
import { notRemembered, rememberedOf } from './remember.js';
import { after, by, CALL, callerOf, DAY, published, requested, stateAfter, TENANT } from './stories-for-spec.js';

type Remembering = Partial<NonNullable<DecideApproval['remember']>>;
const answer = (more: Remembering = {}): DecideApproval => ({
  approvalId: CALL,
  decision: 'approve',
  remember: { scope: { tool: 'pay' }, ...more },
});
const plain: DecideApproval = { approvalId: CALL, decision: 'approve' };
const ada = callerOf('ada', { groups: ['ops'] });

describe('what is remembered', () => {
  const whyNot = (more: Remembering, call: Partial<RequestedToolCall> = {}) =>
    notRemembered(answer(more), callOf(call), ada);
  const pathOf = (...asked: Parameters<typeof whyNot>) => whyNot(...asked)?.errors?.[0]?.path;

  it('may be nothing', () => expect(notRemembered(plain, callOf(), ada)).toBeUndefined());
  it('is of a call of its own scope', () => {
    expect(whyNot({})).toBeUndefined();
    expect(whyNot({ scope: { tool: 'mail' } })).toMatchObject({ reason: 'invalid-input' });
    expect(pathOf({ scope: { tool: 'pay', agent: 'other' } })).toBe('remember.scope');
    expect(pathOf({ scope: { tool: 'pay', when: 'args.amount > 10.0' } })).toBe('remember.scope');
  });
  it('is of the server that was seen, where none is named', () => {
    expect(whyNot({}, { server: 'bank' })).toBeUndefined();
    expect(pathOf({ scope: { tool: 'pay', server: 'mail' } }, { server: 'bank' })).toBe('remember.scope');
    expect(pathOf({ scope: { tool: 'pay', server: 'bank' } })).toBe('remember.scope');
  });
  it('has a condition that can be asked', () =>
    expect(pathOf({ scope: { tool: 'pay', when: 'args.to +' } })).toBe('remember.scope.when'));
  it('needs one who could approve alone', () => {
    const two = callAfter(stateAfter(published({ approvers: { count: 2 } }), requested()));
    expect(notRemembered(answer(), two, ada)).toMatchObject({ reason: 'forbidden' });
    expect(notRemembered(plain, two, ada)).toBeUndefined();
  });
});

describe('the grant that is given with a decision', () => {
  const context = by('ada', after(100), { groups: ['ops'] });

  it('is none where nothing is remembered', () => expect(rememberedOf(plain, callOf(), context)).toEqual({}));
  it('is named after the approval, bound to the tool as it is, and of the groups of who decides', () =>
    expect(
      rememberedOf(answer({ maxUses: 3, expiresInSeconds: 60 }), callOf({ inputSchema: { type: 'object' } }), context),
    ).toEqual({
      remember: {
        grantId: grantIdOf(TENANT, CALL),
        scope: { tool: 'pay' },
        schemaDigest: schemaDigestOf({ inputSchema: { type: 'object' } }),
        expiresAt: after(160),
        maxUses: 3,
        groups: ['ops'],
      },
    }));
  it('is for a month and a thousand uses where nothing else is said', () =>
    expect(rememberedOf(answer(), callOf(), context).remember).toMatchObject({
      expiresAt: after(100 + 30 * DAY),
      maxUses: 1_000,
    }));
  it('is of the server that was seen', () =>
    expect(rememberedOf(answer(), callOf({ server: 'bank' }), context).remember?.scope).toEqual({
      tool: 'pay',
      server: 'bank',
    }));
});
