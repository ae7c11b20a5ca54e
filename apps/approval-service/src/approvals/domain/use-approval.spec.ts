import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { UseApproval } from '#contracts/approvals/commands';
import { digestOf } from '#contracts/canonical';
import { approvalIdOf, type TokenId } from '#contracts/ids';
import type { PolicyRule } from '#contracts/policies/policy';
import type { Caller } from '#contracts/roles';
import { ONE_APPROVER } from '#policy/compiled';
import type { GrantEnd } from '#fold/grant';
import {
  after,
  approved,
  by,
  CALL,
  DAY,
  decided,
  DIGEST,
  ended,
  frozen,
  given,
  givenBack,
  givenBackAgain,
  lapsed,
  published,
  requested,
  resumed,
  resumedAgain,
  revoked,
  started,
  stateAfter,
  succeeded,
  TURN_KEY,
  WORKER_TOKEN,
  type Told,
} from './stories-for-spec.js';
import { approvedByGrant, END, GRANT } from './grant-stories-for-spec.js';
import { useApproval } from './use-approval.js';

const take: UseApproval = { approvalId: CALL, workerId: 'w-1', attempt: 1, argsDigest: DIGEST };
const worker = (more: Partial<Caller> = {}, now = after(100)) =>
  by('demo-agent', now, { tokenId: WORKER_TOKEN, roles: ['agent'], ...more });
const when = (facts: readonly Told[], command = take, context = worker()) =>
  given(...facts).when(useApproval, command, context);
const ready = [requested(), approved, resumed()];
const otherDigest = digestOf({ amount: 11 });

describe('the right to run', () => {
  it('is given to the worker that has the turn, with its token', () =>
    expect(when(ready).event()).toEqual({
      approvalId: CALL,
      attempt: 1,
      workerId: 'w-1',
      tokenId: WORKER_TOKEN,
      argsDigest: DIGEST,
    }));
  it('is given for the edited arguments, where they were edited', () => {
    const edited = [
      requested(),
      decided('approved', 'ada', { argsDigest: otherDigest, editedArgs: { amount: 11 } }),
      resumed(),
    ];
    when(edited, { ...take, argsDigest: otherDigest }).then('ToolExecutionStarted', { argsDigest: otherDigest });
    when(edited).thenRefused('arguments-changed');
  });
  it('is given under the lease of its own call, where each is released by itself', () => {
    when([requested({ release: 'each' }), approved, resumed(CALL)]).then('ToolExecutionStarted', {});
    when([requested({ release: 'each' }), approved, resumed(TURN_KEY)]).thenRefused('stale-attempt');
  });
  it('is given to the very end of its time', () =>
    void when([requested(), approved, resumed()], take, worker({}, after(129))).then('ToolExecutionStarted', {}));
});

describe('it is refused', () => {
  it('for what the log does not have', () => void when([]).thenRefused('not-found'));
  it('for a call beyond those of the turn', () =>
    void when(ready, { ...take, approvalId: approvalIdOf(TURN_KEY, 1) }).thenRefused('not-found'));
  it('to a token of another agent', () => void when(ready, take, worker({ agent: 'other' })).thenRefused('forbidden'));
  it('to a token of another pool', () => void when(ready, take, worker({ pools: ['gpu'] })).thenRefused('forbidden'));
  it('to a token without the role', () =>
    void when(ready, take, worker({ roles: ['approver'] })).thenRefused('forbidden'));
  it('to a token that does not reach the server of the tool', () =>
    void when(
      [requested({}, { server: 'bank' }), approved, resumed()],
      take,
      worker({ servers: ['mail'] }),
    ).thenRefused('forbidden'));
  it('once it was taken, with who and when', () =>
    void when([...ready, started]).thenRefused('already-used', { by: 'demo-agent', at: after(80) }));
  it('once it was taken back', () =>
    void when([...ready, revoked('ada')]).thenRefused('revoked', { by: 'ada', at: after(80) }));
  it('once it has lapsed', () => void when([...ready, lapsed]).thenRefused('lapsed'));
  it('once the turn has ended', () => void when([...ready, ended()]).thenRefused('turn-ended'));
  it('before a decision', () => void when([requested(), resumed()]).thenRefused('not-ready'));
  it.each(['denied', 'responded', 'expired', 'cancelled'] as const)('after it was %s, with the winner', (decision) =>
    when([requested(), decided(decision, 'bob'), resumed()]).thenRefused('superseded', {
      winner: { decision, by: 'bob', at: after(60), seq: 2 },
    }),
  );
  it('past its time, before the sweep says so too', () =>
    void when(ready, take, worker({}, after(60 + DAY))).thenRefused('lapsed', { at: after(60 + DAY) }));
  it('for other arguments', () =>
    void when(ready, { ...take, argsDigest: otherDigest }).thenRefused('arguments-changed'));
  it('to who never resumed', () => void when([requested(), approved]).thenRefused('stale-attempt'));
  it('to an older attempt', () => void when(ready, { ...take, attempt: 2 }).thenRefused('stale-attempt'));
  it('to another worker', () => void when(ready, { ...take, workerId: 'w-2' }).thenRefused('stale-attempt'));
  it('to another token', () =>
    void when(ready, take, worker({ tokenId: 'tk_b' as TokenId })).thenRefused('stale-attempt'));
  it('after the lease is over', () => void when(ready, take, worker({}, after(130))).thenRefused('stale-attempt'));
  it('after it was given back', () => void when([...ready, givenBack]).thenRefused('stale-attempt'));
});

describe('what an earlier attempt began and the policy lets run twice', () => {
  const rule: PolicyRule = { id: 'again', tools: ['pay'], then: 'require', idempotent: true };
  const policy = (...rules: PolicyRule[]) => published(ONE_APPROVER, rules);
  const left = [...ready, started];
  const followed = [...left, resumedAgain()];
  const second: UseApproval = { ...take, workerId: 'w-2', attempt: 2 };
  const again = (facts: readonly Told[], command = second, context = worker({}, after(150))) =>
    when([policy(rule), ...facts], command, context);

  it('is given to the next attempt, without a second fact', () => again(followed).thenNothing());
  it('is given to it again, while it has the turn', () =>
    again([...followed, resumedAgain({ n: 3, leaseUntil: after(300) })], second, worker({}, after(250))).thenNothing());
  it('is given though the time to use it is over: it was used in time', () =>
    again([...left, resumedAgain({ leaseUntil: after(2 * DAY) })], second, worker({}, after(61 + DAY))).thenNothing());
  it('is not given to the attempt that began it', () => {
    again(left, take, worker({}, after(100))).thenRefused('already-used');
    again(left, take, worker({}, after(150))).thenRefused('already-used');
    again(followed, take).thenRefused('already-used');
  });
  it('is not given to another worker, attempt or token', () => {
    again(followed, { ...second, workerId: 'w-3' }).thenRefused('stale-attempt');
    again(followed, { ...second, attempt: 3 }).thenRefused('stale-attempt');
    again(followed, second, worker({ tokenId: 'tk_b' as TokenId }, after(150))).thenRefused('stale-attempt');
    again(followed, second, worker({ agent: 'other' }, after(150))).thenRefused('forbidden');
  });
  it('is not given after the lease is over, or was given back', () => {
    again(followed, second, worker({}, after(200))).thenRefused('stale-attempt');
    again([...followed, givenBackAgain]).thenRefused('stale-attempt');
  });
  it('is not given for other arguments', () =>
    again(followed, { ...second, argsDigest: otherDigest }).thenRefused('arguments-changed'));
  it('is not given once the turn has ended', () => again([...followed, ended()]).thenRefused('turn-ended'));
  it('is not given once it has an outcome', () => again([...followed, succeeded]).thenRefused('already-used'));
  it('is not given while it is frozen', () => again([...followed, frozen]).thenRefused('frozen'));

  it('is given though the grant that approved it was ended: it began in time, and nobody else could finish it', () => {
    const grantEnd = { by: 'ada', at: after(145), seq: 9 };
    const state = { ...stateAfter(policy(rule), ...followed), grantEnd };
    expect(useApproval(second, state, worker({}, after(150)))).toEqual({ kind: 'nothing-to-do' });
  });

  it.each([
    ['there is no policy', followed],
    ['no rule says so', [policy({ ...rule, idempotent: false }), ...followed]],
    ['one rule of two says so', [policy(rule, { id: 'any', tools: ['*'], then: 'require' }), ...followed]],
    ['a rule fails', [policy(rule, { id: 'fails', tools: ['*'], then: 'deny', when: 'args.no == 1' }), ...followed]],
    ['the rule is about other calls', [policy({ ...rule, tools: ['read_*'] }), ...followed]],
    ['the policy came after the request', [...followed.slice(0, 1), policy(rule), ...followed.slice(1)]],
    ['the agent says so', [requested({}, { annotations: { idempotentHint: true } }), ...followed.slice(1)]],
  ] as [string, Told[]][])('is not given where %s', (_, facts) =>
    when(facts, second, worker({}, after(150))).thenRefused('already-used'),
  );
  it('is not given where an edit made it another call', () => {
    const small = policy({ ...rule, when: 'args.amount <= 10' });
    const edited = (amount: number) =>
      [
        small,
        requested(),
        decided('approved', 'ada', { argsDigest: otherDigest, editedArgs: { amount } }),
        ...followed.slice(2),
      ] as const;
    const other = { ...second, argsDigest: otherDigest };
    when(edited(9), other, worker({}, after(150))).thenNothing();
    when(edited(11), other, worker({}, after(150))).thenRefused('already-used');
  });
});

describe('what ran before', () => {
  it('is not said not to have run', () => {
    const again = published(ONE_APPROVER, [{ id: 'r', tools: ['*'], then: 'require', idempotent: true }]);
    const frozenAgain = when([again, ...ready, started, resumedAgain(), frozen], {
      ...take,
      workerId: 'w-2',
      attempt: 2,
    });
    for (const refused of [when([...ready, started]), frozenAgain])
      expect(refused.refusal()?.modelText).toMatch(/"pay" did not run again: /);
  });
});

describe('the order of the refusals', () => {
  it('who may not is told nothing of the approval', () =>
    void when([...ready, started], take, worker({ agent: 'other' })).thenRefused('forbidden'));
  it('what became of the use comes before the end of the turn', () =>
    void when([...ready, started, ended()]).thenRefused('already-used'));
  it('the end of the turn comes before the decision', () =>
    void when([requested(), ended()]).thenRefused('turn-ended'));
  it('the arguments come before the lease', () =>
    void when(ready, { ...take, attempt: 2, argsDigest: otherDigest }).thenRefused('arguments-changed'));
});

describe('whatever is refused', () => {
  const stories: readonly (readonly Told[])[] = [
    [],
    [requested()],
    [requested(), ended()],
    [requested(), decided('denied')],
    [requested(), approved],
    [...ready, started],
    [...ready, revoked()],
    [...ready, lapsed],
    [...ready, ended()],
    [...ready, givenBack],
  ];
  it('tells the model that the tool did not run', () => {
    for (const story of stories) expect(when(story).refusal()?.modelText).toMatch(/did not run/);
    expect(when(ready, take, worker({ agent: 'x' })).refusal()?.modelText).toMatch(/"pay" did not run/);
    expect(when(ready, { ...take, argsDigest: otherDigest }).refusal()?.modelText).toMatch(/"pay" did not run/);
  });
  it('sent twice it records once', () =>
    void fc.assert(
      fc.property(fc.nat(300), fc.constantFrom('w-1', 'w-2'), fc.constantFrom(1, 2), (second, workerId, attempt) => {
        const asked = { ...take, workerId, attempt };
        expect(when([...ready, started], asked, worker({}, after(second))).answer.kind).toBe('refuse');
        expect(when([...ready, started, resumedAgain()], asked, worker({}, after(second))).answer.kind).toBe('refuse');
      }),
    ));
});

describe('what a grant approved', () => {
  const byGrant = [requested(), approvedByGrant, resumed()];
  const use = (facts: readonly Told[], ended: GrantEnd | undefined) =>
    useApproval(take, { ...stateAfter(...facts), ...(ended ? { grantEnd: ended } : {}) }, worker());

  it('is used in the name of the grant', () =>
    void when(byGrant).then('ToolExecutionStarted', { approvalId: CALL, grantId: GRANT }));
  it('is not used once the grant was ended, before that is taken back too', () =>
    expect(use(byGrant, END)).toMatchObject({
      kind: 'refuse',
      refusal: { reason: 'revoked', by: 'olga', at: END.at, modelText: expect.stringMatching(/"pay" did not run/) },
    }));
  it('shows its use first, where it was used before', () =>
    expect(use([...byGrant, started], END)).toMatchObject({ refusal: { reason: 'already-used' } }));
  it('is no other than its own to a worker that lost the lease', () =>
    expect(use([requested(), approvedByGrant], END)).toMatchObject({ refusal: { reason: 'revoked' } }));
});
