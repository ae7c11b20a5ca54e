import { describe, it } from '@jest/globals';
import type { Caller } from '#contracts/roles';
import { cancelling, ending, superseding } from './end-turn.js';
import { reporting } from './report-outcome.js';
import { settling } from './settle-execution.js';
import {
  AGAIN,
  allDecided,
  at,
  by,
  CALLS,
  ended,
  given,
  givenBack,
  lapsed,
  published,
  requested,
  resumed,
  revoked,
  succeeded,
  TURN,
  used,
  type Told,
} from './stories-for-spec.js';

const running = [
  requested({ owner: 'olga', agent: { id: 'billing', onBehalfOf: 'bob' } }),
  ...allDecided,
  resumed(),
  used(0),
];
const report = (facts: readonly Told[], more: object = {}, token: Partial<Caller> = {}) =>
  given(...facts).when(
    reporting,
    { approvalId: CALLS[0], workerId: 'w-1', attempt: 1, ok: true, result: 'done', ...more },
    by(45, token),
  );

describe('an outcome is reported', () => {
  it('by who began the tool', async () =>
    (await report(running, { durationMs: 7 })).thenRecorded('ToolExecutionSucceeded', {
      attempt: 1,
      result: 'done',
      durationMs: 7,
    }));
  it('as a failure', async () =>
    (await report(running, { ok: false, result: undefined, error: 'down' })).thenRecorded('ToolExecutionFailed', {
      error: 'down',
    }));
  it('as null where nothing was given', async () =>
    (await report(running, { result: undefined })).thenRecorded('ToolExecutionSucceeded', { result: null }));
  it('though another attempt is the latest: a true result is never thrown away', async () =>
    (await report([...running, resumed(TURN, 2, 2, { workerId: 'w-2' })])).thenRecorded('ToolExecutionSucceeded'));
  it('though the turn has ended', async () =>
    (await report([...running, ended('cancelled', {})])).thenRecorded('ToolExecutionSucceeded'));
  it('twice the same, once', async () => (await report([...running, succeeded(0)])).thenNothing());
});

describe('an outcome is not reported', () => {
  it('for what is not there', async () => (await report([])).thenRefused('not-found'));
  it('for a call beyond the turn', async () =>
    (await report(running, { approvalId: `${CALLS[0].slice(0, -1)}9` })).thenRefused('not-found'));
  it('before the tool began', async () =>
    (await report([requested(), ...allDecided, resumed()])).thenRefused('not-ready'));
  it('after the approval was taken back', async () =>
    (await report([requested(), ...allDecided, revoked(0)])).thenRefused('revoked'));
  it('after it lapsed', async () => (await report([requested(), ...allDecided, lapsed(0)])).thenRefused('lapsed'));
  it('by another worker, attempt or token', async () => {
    (await report(running, { workerId: 'w-2' })).thenRefused('stale-attempt');
    (await report(running, { attempt: 2 })).thenRefused('stale-attempt');
    (await report(running, {}, { tokenId: 'tk_other' as never })).thenRefused('stale-attempt');
  });
  it('by a token of another agent', async () =>
    (await report(running, {}, { agent: 'other' })).thenRefused('forbidden'));
  it('with both a result and an error', async () =>
    (await report(running, { error: 'x' })).thenRefused('invalid-input'));
  it('as a failure with a result', async () =>
    (await report(running, { ok: false, error: 'x' })).thenRefused('invalid-input'));
  it('over 1 MiB', async () => (await report(running, { result: 'x'.repeat(1_048_576) })).thenRefused('too-large'));
  it('otherwise than before', async () =>
    (await report([...running, succeeded(0)], { result: 'other' })).thenRefused('conflict'));
  it('as a failure where it succeeded before', async () =>
    (await report([...running, succeeded(0)], { ok: false, result: undefined, error: 'done' })).thenRefused(
      'conflict',
    ));
  it('once a person settled it', async () =>
    (await report([...running, succeeded(0, { settledBecause: 'seen' })])).thenRefused('superseded', {
      winner: { decision: 'succeeded' },
    }));
});

const again = published([AGAIN]);
const followed = [...running, resumed(TURN, 2, 2, { workerId: 'w-2', leaseUntil: at(140) })];
const byLatest = { workerId: 'w-2', attempt: 2, result: 'again' };

describe('of what may run again', () => {
  it('the latest attempt may report too', async () =>
    (await report([again, ...followed], byLatest)).thenRecorded('ToolExecutionSucceeded', {
      attempt: 2,
      result: 'again',
    }));
  it('the latest attempt may report a failure', async () =>
    (await report([again, ...followed], { ...byLatest, ok: false, result: undefined, error: 'down' })).thenRecorded(
      'ToolExecutionFailed',
      { attempt: 2, error: 'down' },
    ));
  it('who began it may report as before', async () =>
    (await report([again, ...followed])).thenRecorded('ToolExecutionSucceeded', { attempt: 1 }));
  it('that it failed says nobody but the latest attempt, while that may be running it', async () => {
    const failed = { ok: false, result: undefined, error: 'down' };
    (await report([again, ...followed], failed)).thenRefused('stale-attempt');
    const over = [...running, resumed(TURN, 2, 2, { workerId: 'w-2', leaseUntil: at(44) })];
    (await report([again, ...over], failed)).thenRecorded('ToolExecutionFailed', { attempt: 1 });
    (await report([again, ...followed, ended('cancelled', {})], failed)).thenRecorded('ToolExecutionFailed');
    (await report(followed, failed)).thenRecorded('ToolExecutionFailed', { attempt: 1 });
    const bySecond = [again, ...followed, succeeded(0, { attempt: 2, result: 'again' })];
    (await report(bySecond, failed)).thenRefused('conflict', { winner: { decision: 'succeeded' } });
  });
  it('the first outcome wins, whoever comes second', async () => {
    const byFirst = [again, ...followed, succeeded(0)];
    (await report(byFirst, byLatest)).thenRefused('conflict', { winner: { decision: 'succeeded' } });
    (await report(byFirst, { ...byLatest, result: 'done' })).thenNothing();
    const bySecond = [again, ...followed, succeeded(0, { attempt: 2, result: 'again' })];
    (await report(bySecond)).thenRefused('conflict', { winner: { decision: 'succeeded' } });
  });
  it('nobody reports what a person settled', async () =>
    (await report([again, ...followed, succeeded(0, { settledBecause: 'seen' })], byLatest)).thenRefused('superseded'));
  it('the latest attempt may report though its lease is over, and though the turn has ended', async () => {
    const over = [...running, resumed(TURN, 2, 2, { workerId: 'w-2', leaseUntil: at(44) })];
    (await report([again, ...over], byLatest)).thenRecorded('ToolExecutionSucceeded');
    (await report([again, ...followed, ended('cancelled', {})], byLatest)).thenRecorded('ToolExecutionSucceeded');
  });
  it('an attempt between the first and the latest may not', async () =>
    (await report([again, ...followed, resumed(TURN, 3, 3, { workerId: 'w-3' })], byLatest)).thenRefused(
      'stale-attempt',
    ));
  it('no other worker, attempt or token may', async () => {
    (await report([again, ...followed], { ...byLatest, workerId: 'w-3' })).thenRefused('stale-attempt');
    (await report([again, ...followed], { ...byLatest, attempt: 3 })).thenRefused('stale-attempt');
    (await report([again, ...followed], byLatest, { tokenId: 'tk_other' as never })).thenRefused('stale-attempt');
  });
});

describe('of what must not run twice only who began it reports', () => {
  it('without a policy', async () => (await report(followed, byLatest)).thenRefused('stale-attempt'));
  it('where the policy came after the request', async () =>
    (await report([...followed.slice(0, 1), again, ...followed.slice(1)], byLatest)).thenRefused('stale-attempt'));
  it('where a rule about it does not say so', async () =>
    (
      await report([published([AGAIN, { id: 'other', tools: ['*'], then: 'approve' }]), ...followed], byLatest)
    ).thenRefused('stale-attempt'));
});

const settle = (
  facts: readonly Told[],
  { seconds = 100, subject = 'sam', ...more }: Record<string, unknown> & { seconds?: number; subject?: string } = {},
) =>
  given(...facts).when(
    settling,
    { approvalId: CALLS[0], ok: true, result: 'seen', reason: 'looked it up', ...more },
    by(seconds, { subject, roles: ['operator'] }),
  );

describe('what is in doubt is settled', () => {
  it('by an operator, once its lease is over', async () =>
    (await settle(running)).thenRecorded('ToolExecutionSucceeded', {
      attempt: 1,
      result: 'seen',
      settledBecause: 'looked it up',
    }));
  it('as a failure', async () =>
    (await settle(running, { ok: false, result: undefined, error: 'never arrived' })).thenRecorded(
      'ToolExecutionFailed',
      {
        error: 'never arrived',
      },
    ));
  it('though it may run again, once no lease runs', async () => {
    (await settle([again, ...running])).thenRecorded('ToolExecutionSucceeded');
    (await settle([again, ...followed], { seconds: 140 })).thenRecorded('ToolExecutionSucceeded');
  });
  it('though another attempt has the turn, where that one must not run it', async () =>
    (await settle(followed)).thenRecorded('ToolExecutionSucceeded'));
  it('when its attempt was given back', async () =>
    (await settle([...running, givenBack()], { seconds: 35 })).thenRecorded('ToolExecutionSucceeded'));
});

describe('it is not settled', () => {
  it('where there is nothing', async () => (await settle([])).thenRefused('not-found'));
  it('while another attempt may be running it again', async () =>
    (await settle([again, ...followed], { seconds: 139 })).thenRefused('not-ready'));
  it('while its lease runs', async () => (await settle(running, { seconds: 79 })).thenRefused('not-ready'));
  it('before the tool began', async () =>
    (await settle([requested(), ...allDecided, resumed()])).thenRefused('not-ready'));
  it('after it was reported', async () => (await settle([...running, succeeded(0)])).thenRefused('superseded'));
  it.each(['worker', 'Olga', 'BOB'])('by %s, who asked for it', async (subject) =>
    (await settle(running, { subject })).thenRefused('self-approval'),
  );
  it('with both a result and an error', async () =>
    (await settle(running, { error: 'x' })).thenRefused('invalid-input'));
});

const taken = [requested(), ...allDecided, resumed()];
const end = (facts: readonly Told[], { attempt = 1, token = {} } = {}) =>
  given(...facts).when(ending, { turnKey: TURN, attempt, status: 'completed' }, by(60, token));

describe('a turn is ended', () => {
  it('by the attempt that has it', async () =>
    (await end(taken)).thenRecorded('TurnEnded', { status: 'completed', attempt: 1, turnId: 't-1' }));
  it('twice the same, once', async () => (await end([...taken, ended()])).thenNothing());
});

describe('a turn is not ended', () => {
  it('where there is none', async () => (await end([])).thenRefused('not-found'));
  it('before anybody took it', async () => (await end([requested(), ...allDecided])).thenRefused('not-ready'));
  it('by an older attempt', async () => (await end([...taken, resumed(TURN, 2, 2)])).thenRefused('stale-attempt'));
  it('by another token', async () =>
    (await end(taken, { token: { tokenId: 'tk_other' as never } })).thenRefused('stale-attempt'));
  it('by who gave it back', async () => (await end([...taken, givenBack()])).thenRefused('stale-attempt'));
  it('for another agent', async () => (await end(taken, { token: { agent: 'other' } })).thenRefused('forbidden'));
  it('otherwise than before', async () => (await end([...taken, ended('failed')])).thenRefused('turn-ended'));
  it('by another attempt after it was', async () =>
    (await end([...taken, ended()], { attempt: 2 })).thenRefused('turn-ended'));
});

const cancel = (facts: readonly Told[], token: Partial<Caller> = {}) =>
  given(...facts).when(cancelling, { turnKey: TURN, reason: 'left' }, by(60, token));

describe('a turn is cancelled', () => {
  it('by its agent, at any time', async () => {
    (await cancel([requested()])).thenRecorded('TurnEnded', { status: 'cancelled', reason: 'left' });
    (await cancel(taken)).thenRecorded('TurnEnded', { status: 'cancelled' });
  });
  it('once', async () => (await cancel([requested(), ended('cancelled', {})])).thenNothing());
  it('not where there is none', async () => (await cancel([])).thenRefused('not-found'));
  it('not by another agent', async () => (await cancel([requested()], { agent: 'other' })).thenRefused('forbidden'));
  it('not after it ended', async () => (await cancel([...taken, ended()])).thenRefused('turn-ended'));
});

const supersede = (facts: readonly Told[]) =>
  given(...facts).when(superseding, { turnKey: TURN, supersededBy: 't-2' }, by(60));

describe('a turn whose place another took', () => {
  it('is cancelled', async () =>
    (await supersede(taken)).thenRecorded('TurnEnded', { status: 'cancelled', supersededBy: 't-2' }));
  it('stays as it ended', async () => (await supersede([...taken, ended()])).thenNothing());
  it('is nothing where it is not', async () => (await supersede([])).thenNothing());
});
