import { describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { GrantScope } from '#contracts/grants/events';
import { later, turnKeyOf, type Instant, type Tenant, type TokenId } from '#contracts/ids';
import type { Effect, PolicyRule, Requirement } from '#contracts/policies/policy';
import type { RequestedToolCall, ToolApprovalRequested } from '#contracts/turns/events';
import { NEVER_TAKEN } from '#fold/lease';
import type { KnownTurn } from '#fold/turn';
import { compilePolicy } from './compiled.js';
import {
  boundsOf,
  conditionError,
  covers,
  isInScope,
  schemaDigestOf,
  type Allowing,
  type AskedCall,
} from './grants.js';
import { ruleOn } from './ruling.js';

const NOON = '2026-03-01T12:00:00.000Z' as Instant;
const ARGS = { to: 'x@example.com', amount: 10 };
const SCHEMA = { type: 'object', properties: { to: { type: 'string' } } };
const pay: RequestedToolCall = {
  toolCallId: 'c',
  toolName: 'pay',
  args: ARGS,
  argsDigest: digestOf(ARGS),
  inputSchema: SCHEMA,
};
const asked: ToolApprovalRequested = {
  turnKey: turnKeyOf('default' as Tenant, 'conv', 't-1'),
  conversationId: 'conv',
  turnId: 't-1',
  agent: { id: 'robot' },
  release: 'all',
  pool: 'default',
  toolCalls: [pay],
  digest: digestOf({}),
  tokenId: 'tk' as TokenId,
};

interface Story {
  readonly call?: Partial<RequestedToolCall>;
  readonly request?: Partial<ToolApprovalRequested>;
  readonly rules?: readonly Omit<PolicyRule, 'id'>[];
  readonly otherwise?: Requirement;
}

function callOf({ call, request, rules = [], otherwise = { approvers: { count: 1 } } }: Story): AskedCall {
  const whole = { ...pay, ...call };
  const turn: KnownTurn = {
    state: 'open',
    request: { ...asked, toolCalls: [whole], ...request },
    requestedBy: 'demo-agent',
    requestedAt: NOON,
    requestSeq: 1,
    lease: NEVER_TAKEN,
    seq: 1,
  };
  const named = rules.map((rule, at) => ({ id: `r-${at}`, ...rule }));
  const policy = compilePolicy(1, { rules: named, default: otherwise });
  return { turn, call: whole, ruling: ruleOn(policy, turn.request, whole) };
}

const grant: Allowing = { scope: { tool: 'pay' }, schemaDigest: schemaDigestOf(pay), by: 'ada', groups: ['ops'] };
const isCovered = (story: Story = {}, more: Partial<Allowing> = {}) => covers({ ...grant, ...more }, callOf(story));
const rule = (then: Effect, more: Partial<PolicyRule> = {}) => ({ tools: ['*'], then, ...more });

describe('a grant covers a call', () => {
  it('that its grantor alone could have approved', () => expect(isCovered()).toBe(true));
  it('not one that the policy denies or approves', () =>
    expect((['deny', 'approve'] as const).map((then) => isCovered({ rules: [rule(then)] }))).toEqual([false, false]));
  it('not one about which a rule could not say anything', () =>
    expect(isCovered({ rules: [rule('approve', { when: 'args.missing > 1' })] })).toBe(false));
  it('not one of a tool that says other things of itself', () => {
    expect(isCovered({ call: { inputSchema: {} } })).toBe(false);
    expect(isCovered({ call: { annotations: { destructiveHint: true } } })).toBe(false);
  });
  it('not what its grantor asked for, owns, or is acted for', () => {
    expect(isCovered({}, { by: 'Demo-Agent' })).toBe(false);
    expect(isCovered({ request: { owner: 'ADA' } })).toBe(false);
    expect(isCovered({ request: { agent: { id: 'robot', onBehalfOf: 'Ada' } } })).toBe(false);
  });
  it('not one for which others are asked', () => {
    expect(isCovered({ otherwise: { approvers: { count: 1, groups: ['pay'] } } })).toBe(false);
    expect(isCovered({ otherwise: { approvers: { count: 1, groups: ['ops'] } } })).toBe(true);
    expect(isCovered({ otherwise: { approvers: { count: 1, subjects: ['Ada'] } } })).toBe(true);
  });
  it('not one for which its grantor is asked at a later stage', () =>
    expect(
      isCovered({
        otherwise: {
          approvers: { count: 1, groups: ['pay'] },
          escalate: [{ afterSeconds: 1, approvers: { count: 1, groups: ['ops'] } }],
        },
      }),
    ).toBe(false));
  it('not one that needs more than one act', () => {
    expect(isCovered({ otherwise: { approvers: { count: 2 } } })).toBe(false);
    expect(isCovered({ otherwise: { approvers: { count: 1 }, holdSeconds: 60 } })).toBe(false);
  });
  it('not one out of its scope', () => expect(isCovered({}, { scope: { tool: 'mail' } })).toBe(false));
});

describe('a call is in a scope', () => {
  const isIn = (scope: Partial<GrantScope>, call: Partial<RequestedToolCall> = {}) =>
    isInScope({ tool: 'pay', ...scope }, asked, { ...pay, ...call });

  it('of its tool', () => {
    expect(isIn({})).toBe(true);
    expect(isIn({ tool: 'pay2' })).toBe(false);
  });
  it('of its server; none named is one of its own', () => {
    const bank = { server: 'bank' };
    expect([isIn(bank, bank), isIn(bank), isIn({}, bank), isIn(bank, { server: 'mail' })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
  it('of its agent, where one is named', () =>
    expect([isIn({ agent: 'robot' }), isIn({ agent: 'other' })]).toEqual([true, false]));
  it('of its conversation, where one is named', () =>
    expect([isIn({ conversationId: 'conv' }), isIn({ conversationId: 'other' })]).toEqual([true, false]));
  it('whose condition is true of it', () => {
    expect(isIn({ when: 'args.amount < 11.0' })).toBe(true);
    expect(isIn({ when: 'args.amount < 10.0' })).toBe(false);
    expect(isIn({ when: "agent.id == 'robot' && conversation.id == 'conv' && tool == 'pay'" })).toBe(true);
  });
  it('not of one whose condition can say neither yes nor no', () => {
    for (const when of ['args.missing > 1', "'text'", 'args.to +']) expect(isIn({ when })).toBe(false);
  });
  it('not of a broader one for being of a narrower one', () => {
    expect(isIn({ agent: 'robot', conversationId: 'conv', when: 'false' })).toBe(false);
    expect(isIn({ agent: 'other', when: 'true' })).toBe(false);
  });
});

describe('the digest of a tool', () => {
  it('is the same however its schema is written', () =>
    expect(schemaDigestOf({ inputSchema: { a: 1, b: 2 } })).toBe(schemaDigestOf({ inputSchema: { b: 2, a: 1 } })));
  it('is another for another schema', () =>
    expect(schemaDigestOf({ inputSchema: { a: 1 } })).not.toBe(schemaDigestOf({ inputSchema: { a: 2 } })));
  it('is another for other annotations', () =>
    expect(schemaDigestOf({ annotations: { a: 1 } })).not.toBe(schemaDigestOf({})));
  it('tells a schema from annotations', () =>
    expect(schemaDigestOf({ annotations: { a: 1 } })).not.toBe(schemaDigestOf({ inputSchema: { a: 1 } })));
  it('is the same for none and for empty ones', () =>
    expect(schemaDigestOf({})).toBe(schemaDigestOf({ inputSchema: {}, annotations: {} })));
  it('is not of the name, the server or the arguments', () => {
    const other: RequestedToolCall = { ...pay, toolName: 'mail', server: 's', args: {} };
    expect(schemaDigestOf(other)).toBe(schemaDigestOf(pay));
  });
});

describe('the bounds of a grant', () => {
  const scope = { tool: 'pay' };
  it('are what was said', () =>
    expect(boundsOf({ scope, expiresInSeconds: 60, maxUses: 3 }, NOON)).toEqual({
      expiresAt: later(NOON, 60),
      maxUses: 3,
    }));
  it('are thirty days and a thousand uses where nothing was said', () =>
    expect(boundsOf({ scope }, NOON)).toEqual({ expiresAt: later(NOON, 30 * 86_400), maxUses: 1_000 }));
});

describe('a condition of a grant', () => {
  it('that can be asked has no error', () =>
    expect(conditionError({ tool: 'pay', when: 'args.amount < 5.0' })).toBeUndefined());
  it('that cannot be read has one, each time', () => {
    expect(conditionError({ tool: 'pay', when: 'args.to +' })).toEqual(expect.any(String));
    expect(conditionError({ tool: 'pay', when: 'args.to +' })).toEqual(expect.any(String));
  });
  it('that is too long has one', () =>
    expect(conditionError({ tool: 'pay', when: `'${'x'.repeat(4_096)}' == ''` })).toMatch(/longer/));
});
