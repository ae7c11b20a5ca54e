import { describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import { later, turnKeyOf, type Instant, type Tenant, type TokenId } from '#contracts/ids';
import type { PolicyRule } from '#contracts/policies/policy';
import type { Release } from '#contracts/turns/events';
import { NEW_APPROVAL, type Approval } from '#fold/approval';
import { NEVER_TAKEN, type Lease } from '#fold/lease';
import type { WholeTurn } from '#fold/read';
import { BEFORE_ANY_POLICY, compilePolicy, ONE_APPROVER } from './compiled.js';
import { executionsOf, isFreeAgain, judgedTurn, mayRunAgain, waitsForPerson } from './run-again.js';

const TENANT = 'default' as Tenant;
const KEY = turnKeyOf(TENANT, 'conv', 't-1');
const NOON = '2026-01-01T12:00:00.000Z' as Instant;
const at = (seconds: number) => later(NOON, seconds);
const DIGEST = digestOf({});
const TOKEN = 'tk' as TokenId;
const [BEFORE, OVER] = [at(59), at(60)];

const policyOf = (...rules: Partial<PolicyRule>[]) => {
  const whole = rules.map((rule, n): PolicyRule => ({ id: `r-${n}`, tools: ['*'], then: 'approve', ...rule }));
  return compilePolicy(1, { rules: whole, default: ONE_APPROVER });
};
const AGAIN = policyOf({ idempotent: true, when: "args.method == 'GET'" });
const ONCE = policyOf({ when: "args.method == 'GET'" });

const happened = { by: 'ada', at: NOON, seq: 2, eventId: 'e' };
const approved = (more: Partial<Approval> = {}): Approval => ({
  ...NEW_APPROVAL,
  decision: { is: 'approved', byKind: 'person', argsDigest: DIGEST, ...happened },
  ...more,
});
const edited = (args: Record<string, unknown>): Partial<Approval> => ({
  decision: { is: 'approved', byKind: 'person', argsDigest: DIGEST, editedArgs: args, ...happened },
});
const begun = (more: Partial<Approval> = {}) =>
  approved({ use: { is: 'started', attempt: 1, workerId: 'w-1', tokenId: TOKEN, ...happened }, ...more });
const outcome = { settled: false, attempt: 1, ...happened };
const lease = (attempt: number, state: 'taken' | 'given-back' = 'taken'): Lease => ({
  ...{ state, key: KEY, n: attempt, attempt, workerId: `w-${attempt}`, tokenId: TOKEN, since: NOON, until: OVER },
});

interface Asked {
  readonly attempt?: number;
  readonly release?: Release;
  readonly policy?: typeof AGAIN;
  readonly args?: Record<string, unknown>;
}
const turnOf = (
  approvals: readonly Approval[],
  { attempt = 1, release = 'all', policy = AGAIN, args = { method: 'GET' } }: Asked = {},
) => {
  const toolCalls = approvals.map((_, n) => ({ toolCallId: `c${n}`, toolName: 'http', args, argsDigest: DIGEST }));
  const request = { conversationId: 'conv', turnId: 't-1', agent: { id: 'a' }, pool: 'default', tokenId: TOKEN };
  const turn: WholeTurn['turn'] = {
    ...{ state: 'open', requestedBy: 'demo', requestedAt: NOON, requestSeq: 7, seq: 9 },
    request: { turnKey: KEY, release, toolCalls, digest: DIGEST, ...request },
    lease: release === 'all' && attempt > 0 ? lease(attempt) : NEVER_TAKEN,
  };
  return { turn, approvals, policy };
};
const callOf = (approval: Approval, asked: Asked = {}) => {
  const { turn, policy } = turnOf([approval], asked);
  const [call] = turn.request.toolCalls;
  if (!call) throw new Error('A turn has a call');
  return { turn, call, approval, policy };
};

describe('a call that began and was left behind', () => {
  it('is free again for the next attempt where the policy says so, and only there', () =>
    expect(
      [AGAIN, ONCE, BEFORE_ANY_POLICY].map((policy) => isFreeAgain(callOf(begun(), { attempt: 2, policy }))),
    ).toEqual([true, false, false]));
  it('is not free for the attempt that began it', () => expect(isFreeAgain(callOf(begun()))).toBe(false));
  it('is not free before it began, nor with an outcome', () => {
    const ended = begun({ outcome: { ok: true, result: 7, ...outcome } });
    expect([approved(), ended].map((one) => isFreeAgain(callOf(one, { attempt: 2 })))).toEqual([false, false]);
  });
  it('may have been run again by who has it, though there is an outcome now', () =>
    expect(mayRunAgain(callOf(begun({ outcome: { ok: true, result: 7, ...outcome } }), { attempt: 2 }))).toBe(true));
  it('goes by its own lease, where each is released', () => {
    const one = (attempt: number) => isFreeAgain(callOf(begun({ lease: lease(attempt) }), { release: 'each' }));
    expect([one(1), one(2)]).toEqual([false, true]);
  });
  it('is judged by the arguments that run, not by those that were asked for', () => {
    const asked = (method: string, edit?: string) =>
      isFreeAgain(callOf(begun(edit ? edited({ method: edit }) : {}), { attempt: 2, args: { method } }));
    expect([asked('GET'), asked('POST'), asked('GET', 'POST'), asked('POST', 'GET')]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
  it('is not free where an edit makes a rule fail', () =>
    expect(isFreeAgain(callOf(begun(edited({})), { attempt: 2 }))).toBe(false));
  it('is free by no word of the agent', () => {
    const judged = callOf(begun(), { attempt: 2, policy: ONCE });
    const call = { ...judged.call, annotations: { idempotentHint: true, readOnlyHint: true, idempotent: true } };
    expect(isFreeAgain({ ...judged, call })).toBe(false);
  });
});

describe('a person is waited for', () => {
  const waits = (approvals: readonly Approval[], asked: Asked = {}, now = OVER, index?: number) =>
    waitsForPerson(turnOf(approvals, asked), now, index);
  it('where what is in doubt must not run twice', () =>
    expect([waits([begun()], { policy: ONCE }), waits([begun()])]).toEqual([true, false]));
  it('not while its lease runs, nor where nothing began', () =>
    expect([waits([begun()], { policy: ONCE }, BEFORE), waits([approved()], { policy: ONCE })]).toEqual([
      false,
      false,
    ]));
  it('where one of several must not run twice, and not for that of another', () => {
    const two = [begun(edited({ method: 'GET' })), begun(edited({ method: 'POST' }))];
    expect([waits(two), waits(two, {}, OVER, 0), waits(two, {}, OVER, 1)]).toEqual([true, false, true]);
  });
});

describe('who takes a continuation is told', () => {
  const states = (approvals: readonly Approval[], asked: Asked = {}, index?: number) =>
    executionsOf(turnOf(approvals, asked), index).map(({ state }) => state);
  const all = [
    begun({ outcome: { ok: true, result: 7, ...outcome } }),
    begun({ outcome: { ok: false, error: 'down', ...outcome } }),
    approved(),
    { ...NEW_APPROVAL },
  ];
  it('what ran, and what is free', () => expect(states(all, { attempt: 2 })).toEqual(['executed', 'failed', 'free']));
  it('of its own call alone', () => expect(states(all, { attempt: 2 }, 1)).toEqual(['failed']));
  it('that what may run again is free, and of what may not, nothing', () =>
    expect([states([begun()], { attempt: 2 }), states([begun()], { attempt: 2, policy: ONCE })]).toEqual([
      ['free'],
      [],
    ]));
  it('not that what it began itself is free', () => expect(states([begun()])).toEqual([]));
});

describe('the policy', () => {
  const asked: number[] = [];
  const policies = { at: (_: Tenant, seq: number) => Promise.resolve((asked.push(seq), AGAIN)) };
  it('is that of the request, and asked for only where something began', async () => {
    const { policy } = (await judgedTurn(policies, TENANT, turnOf([begun()]))) ?? {};
    expect([policy, asked.splice(0)]).toEqual([AGAIN, [7]]);
    await judgedTurn(policies, TENANT, turnOf([approved(), begun({ outcome: { ok: true, result: 7, ...outcome } })]));
    expect(asked).toEqual([]);
  });
  it('of nothing is nothing', async () => expect(await judgedTurn(policies, TENANT, undefined)).toBeUndefined());
});
