import { describe, it } from '@jest/globals';
import { approved, by, CALL, decided, expired, given, requested, type Told } from './stories-for-spec.js';
import { withdrawVote } from './withdraw-vote.js';

const withdraw = (...facts: readonly Told[]) => given(...facts).when(withdrawVote, { approvalId: CALL }, by('ada'));

describe('a vote is not withdrawn', () => {
  it('from what the log does not have', () => void withdraw().thenRefused('not-found'));
  it('where nobody has one', () =>
    void withdraw(requested()).thenRefused('not-found', { detail: 'You have no vote here' }));
  it('once it is decided, by me too', () => {
    withdraw(requested(), approved).thenRefused('superseded', { winner: { decision: 'approved', by: 'ada' } as never });
    withdraw(requested(), decided('denied', 'bob')).thenRefused('superseded');
  });
  it('once it has expired', () => void withdraw(requested(), expired).thenRefused('late'));
});
