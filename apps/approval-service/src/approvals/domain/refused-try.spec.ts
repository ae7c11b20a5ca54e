import { describe, expect, it } from '@jest/globals';
import { DecisionRefused, REFUSED_TRIES } from '#contracts/approvals/events';
import { approvalIdOf, personDigest } from '#contracts/ids';
import { parse } from '#contracts/parse';
import { REASONS } from '#contracts/refusals';
import { isRefusedTry, recordRefusedTry, refusing } from './refused-try.js';
import { CALL, recordedAt, requested, stateAfter, TENANT, TURN_KEY } from './stories-for-spec.js';

const who = personDigest(TENANT, 'Ada@example.com');
const tried = { approvalId: CALL, who, why: 'late', tried: 'approve' } as const;
const known = { turn: stateAfter(requested()).turn };

describe('a refused try', () => {
  it('is a fact, which names its author by a digest', () => {
    const answer = recordRefusedTry(tried, known);
    expect(answer).toEqual({
      kind: 'accept',
      event: { type: 'DecisionRefused', data: { ...tried, turnKey: TURN_KEY } },
    });
    expect(parse(DecisionRefused, { ...tried, turnKey: TURN_KEY }).ok).toBe(true);
    expect(JSON.stringify(answer)).not.toMatch(/ada/i);
  });
  it('is one once', () =>
    void expect(recordRefusedTry(tried, { ...known, earlier: recordedAt(requested(), 9) })).toEqual({
      kind: 'nothing-to-do',
    }));
  it('is none for what the log does not have', () => {
    expect(recordRefusedTry(tried, { turn: { state: 'unknown' } })).toEqual({ kind: 'nothing-to-do' });
    expect(recordRefusedTry({ ...tried, approvalId: approvalIdOf(TURN_KEY, 1) }, known)).toEqual({
      kind: 'nothing-to-do',
    });
  });
  it('reads nothing for what is no id', async () => {
    const none = { last: () => Promise.reject(new Error('read')), next: () => Promise.reject(new Error('read')) };
    expect(await refusing.read(none, TENANT, { ...tried, approvalId: 'ap_>' as never })).toEqual({
      turn: { state: 'unknown' },
    });
  });
  it('is one for these reasons only', () =>
    expect(REASONS.filter(isRefusedTry).sort()).toEqual([...REFUSED_TRIES].sort()));
});
