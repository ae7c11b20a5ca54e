import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { UseApproval } from '#contracts/approvals/commands';
import { digestOf } from '#contracts/canonical';
import { approvalIdOf, type TokenId } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import {
  after,
  approved,
  by,
  CALL,
  DAY,
  decided,
  DIGEST,
  ended,
  given,
  givenBack,
  lapsed,
  requested,
  resumed,
  revoked,
  started,
  TURN_KEY,
  WORKER_TOKEN,
  type Told,
} from './stories-for-spec.js';
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
        expect(
          when([...ready, started], { ...take, workerId, attempt }, worker({}, after(second))).event(),
        ).toBeUndefined();
      }),
    ));
});
