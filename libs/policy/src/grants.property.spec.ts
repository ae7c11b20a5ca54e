import { describe, expect, it } from '@jest/globals';
import fc, { type Arbitrary } from 'fast-check';
import { canonicalJson, digestOf } from '#contracts/canonical';
import type { GrantScope } from '#contracts/grants/events';
import { turnKeyOf, type Instant, type Tenant, type TokenId } from '#contracts/ids';
import type { Effect, Policy, PolicyRule, Requirement } from '#contracts/policies/policy';
import type { RequestedToolCall } from '#contracts/turns/events';
import { NEVER_TAKEN } from '#fold/lease';
import type { KnownTurn } from '#fold/turn';
import { fewest, GROUPS, isMetByTrying, NAMES, quorums, SAME } from './arbitraries-for-spec.js';
import { compilePolicy } from './compiled.js';
import { covers, type Allowing } from './grants.js';
import { ruleOn } from './ruling.js';

const maybe = <Value>(one: Arbitrary<Value>) => fc.option(one, { nil: undefined });
/** Mostly the first: what is all different covers nothing. */
const mostly = <Value>(first: Value, ...others: readonly Value[]) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(first) }, fc.constantFrom(first, ...others));
const person = fc.constantFrom(...NAMES, 'Ada', 'BOB');
const without = <One extends object>(one: One): One =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as One;

const SCHEMAS = [undefined, {}, { type: 'object' }] as const;
const ANNOTATIONS = [undefined, {}, { destructiveHint: true }] as const;
const WHENS = ['args.amount > 1.0', 'args.amount > 9.0', 'args.missing > 1', "agent.id == 'robot'"];

interface Asked {
  readonly call: RequestedToolCall;
  readonly agent: { readonly id: string; readonly onBehalfOf?: string };
  readonly conversationId: string;
  readonly owner?: string;
  readonly requestedBy: string;
}
const asked: Arbitrary<Asked> = fc
  .record({
    toolName: mostly('pay', 'mail'),
    server: mostly(undefined, 'bank'),
    amount: fc.constantFrom(5, 10, 'many'),
    inputSchema: mostly<object | undefined>(...SCHEMAS),
    annotations: mostly<object | undefined>(...ANNOTATIONS),
    agent: mostly('robot', 'other'),
    conversationId: mostly('here', 'there'),
    onBehalfOf: maybe(person),
    owner: maybe(person),
    requestedBy: mostly('demo-agent', ...NAMES),
  })
  .map(({ toolName, server, amount, inputSchema, annotations, agent, onBehalfOf, owner, ...rest }) => ({
    ...rest,
    call: without({
      toolCallId: 'c',
      toolName,
      server,
      args: { amount },
      argsDigest: digestOf({ amount }),
      inputSchema,
      annotations,
    }) as RequestedToolCall,
    agent: without({ id: agent, onBehalfOf }) as Asked['agent'],
    ...(owner === undefined ? {} : { owner }),
  }));

const requirement: Arbitrary<Requirement> = fc
  .record({
    approvers: fc.oneof({ weight: 3, arbitrary: fc.constant({ count: 1 }) }, quorums),
    denyCount: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, fc.constant(2)),
    holdSeconds: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, fc.constant(60)),
    escalate: fc.array(fc.record({ afterSeconds: fc.constant(60), approvers: quorums }), { maxLength: 1 }),
  })
  .map(({ denyCount, approvers, escalate, holdSeconds }) =>
    without({
      approvers: denyCount === undefined ? approvers : { ...approvers, denyCount },
      holdSeconds,
      ...(escalate.length > 0 ? { escalate } : {}),
    } as Requirement),
  );
const rule: Arbitrary<PolicyRule> = fc
  .record({
    tool: fc.constantFrom('*', 'pay'),
    when: maybe(fc.constantFrom(...WHENS)),
    then: fc.constantFrom<Effect>('approve', 'deny', 'require', 'require', 'require'),
    require: requirement,
  })
  .map(({ tool, when, then, require }) =>
    without({ id: 'r', tools: [tool], when, then, ...(then === 'require' ? { require } : {}) } as PolicyRule),
  );
const policies: Arbitrary<Policy> = fc
  .record({ rules: fc.array(rule, { maxLength: 2 }), default: requirement })
  .map(({ rules, ...rest }) => ({ ...rest, rules: rules.map((one, at) => ({ ...one, id: `r-${at}` })) }));

interface Given {
  readonly scope: GrantScope;
  readonly schema: object | undefined;
  readonly annotations: object | undefined;
  readonly by: string;
  readonly groups: string[];
}
const given: Arbitrary<Given> = fc.record({
  scope: fc
    .record({
      tool: mostly('pay', 'mail'),
      server: mostly(undefined, 'bank'),
      agent: maybe(mostly('robot', 'other')),
      conversationId: maybe(mostly('here', 'there')),
      when: maybe(fc.constantFrom(...WHENS)),
    })
    .map((scope) => without(scope) as GrantScope),
  schema: mostly<object | undefined>(...SCHEMAS),
  annotations: mostly<object | undefined>(...ANNOTATIONS),
  by: person,
  groups: fc.subarray(GROUPS),
});

function judge({ call, requestedBy, ...request }: Asked, policy: Policy) {
  const turn: KnownTurn = {
    state: 'open',
    request: {
      turnKey: turnKeyOf('default' as Tenant, request.conversationId, 't-1'),
      turnId: 't-1',
      release: 'all',
      pool: 'default',
      toolCalls: [call],
      digest: digestOf({}),
      tokenId: 'tk' as TokenId,
      ...request,
    },
    requestedBy,
    requestedAt: '2026-03-01T12:00:00.000Z' as Instant,
    requestSeq: 1,
    lease: NEVER_TAKEN,
    seq: 1,
  };
  return { turn, call, ruling: ruleOn(compilePolicy(1, policy), turn.request, call) };
}

const allowing = ({ scope, schema = {}, annotations = {}, by, groups }: Given): Allowing => ({
  scope,
  schemaDigest: digestOf({ inputSchema: schema, annotations }),
  by,
  groups,
});

/** What a condition says of a call, told without asking it. */
const says = (when: string, { call, agent }: Asked): 'yes' | 'no' | 'fails' => {
  const { amount } = call.args as { amount: number | string };
  if (when.startsWith('agent')) return agent.id === 'robot' ? 'yes' : 'no';
  if (when.includes('missing') || typeof amount === 'string') return 'fails';
  return amount > (when.includes('9.0') ? 9 : 1) ? 'yes' : 'no';
};
const concerned = ({ rules }: Policy, one: Asked) =>
  rules.filter(({ tools }) => tools[0] === '*' || tools[0] === one.call.toolName);
const matching = (policy: Policy, one: Asked) =>
  concerned(policy, one).filter(({ when }) => when === undefined || says(when, one) === 'yes');
const failing = (policy: Policy, one: Asked) =>
  concerned(policy, one).filter(({ when }) => when !== undefined && says(when, one) === 'fails');
const lower = (name: string) => name.toLowerCase();

/** Every requirement that must hold together. */
function required(policy: Policy, one: Asked): readonly Requirement[] {
  const all = matching(policy, one).flatMap(({ require }) => (require ? [require] : []));
  return all.length > 0 ? all : [policy.default];
}

/** Whether who gave it alone meets all that is required, at once and with no other to wait for: by trying everything. */
function couldAlone({ by, groups }: Given, all: readonly Requirement[]): boolean {
  const who = [{ subject: by, groups }];
  return all.every(
    ({ approvers: { denyCount: _, ...approvers }, holdSeconds, escalate = [] }) =>
      holdSeconds === undefined &&
      fewest(approvers) === 1 &&
      escalate.every((stage) => fewest(stage.approvers) === 1) &&
      isMetByTrying(approvers, who),
  );
}

const covered = fc.record({ grant: given, one: asked, policy: policies });
const isCovered = ({ grant, one, policy }: { grant: Given; one: Asked; policy: Policy }) =>
  covers(allowing(grant), judge(one, policy));

describe('whatever the grant, the call and the policy', () => {
  let found = 0;
  const whereCovered = (check: (grant: Given, one: Asked, policy: Policy) => void) =>
    fc.assert(
      fc.property(covered, (story) => {
        if (!isCovered(story)) return;
        found += 1;
        check(story.grant, story.one, story.policy);
      }),
      { ...SAME, numRuns: 1_500 },
    );

  it('what is covered is required of people, and no rule failed', () =>
    whereCovered((_, one, policy) => {
      const effects = matching(policy, one).map(({ then }) => then);
      expect(effects.filter((then) => then === 'deny')).toEqual([]);
      if (effects.includes('approve')) expect(effects).toContain('require');
      expect(failing(policy, one)).toEqual([]);
    }));
  it('who gave it could have approved it alone, at once', () =>
    whereCovered((grant, one, policy) =>
      expect({ grant, policy, could: couldAlone(grant, required(policy, one)) }).toMatchObject({ could: true }),
    ));
  it('who gave it neither asked for it, nor owns the agent, nor is acted for', () =>
    whereCovered(({ by }, { requestedBy, owner = '', agent: { onBehalfOf = '' } }) =>
      expect([requestedBy, owner, onBehalfOf].map(lower)).not.toContain(lower(by)),
    ));
  it('it is the tool that was seen: its name, its server, its schema, its annotations', () =>
    whereCovered(({ scope, schema = {}, annotations = {} }, { call }) => {
      expect([call.toolName, call.server]).toEqual([scope.tool, scope.server]);
      expect(canonicalJson(call.inputSchema ?? {})).toBe(canonicalJson(schema));
      expect(canonicalJson(call.annotations ?? {})).toBe(canonicalJson(annotations));
    }));
  it('it is of the agent and the conversation that were said, and its condition is true', () =>
    whereCovered(({ scope: { agent, conversationId, when } }, one) => {
      if (agent !== undefined) expect(one.agent.id).toBe(agent);
      if (conversationId !== undefined) expect(one.conversationId).toBe(conversationId);
      if (when !== undefined) expect(says(when, one)).toBe('yes');
    }));
  it('and enough is covered for this to say something', () => expect(found).toBeGreaterThan(50));
});
