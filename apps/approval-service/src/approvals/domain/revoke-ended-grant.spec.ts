import { describe, expect, it } from '@jest/globals';
import type { GrantEnd } from '#fold/grant';
import { approvedByGrant, END } from './grant-stories-for-spec.js';
import { revokeEndedGrant } from './revoke-ended-grant.js';
import { CALL, lapsed, requested, revoked, started, stateAfter, decided, type Told } from './stories-for-spec.js';

const about = { approvalId: CALL };
const after = (facts: readonly Told[], grantEnd?: GrantEnd) =>
  revokeEndedGrant(about, { ...stateAfter(...facts), ...(grantEnd ? { grantEnd } : {}) });
const ready = [requested(), approvedByGrant];

describe('with a grant ends what it approved', () => {
  it('and nobody has used, for the reason that was given', () =>
    expect(after(ready, END)).toEqual({
      kind: 'accept',
      event: { type: 'ToolApprovalRevoked', data: { approvalId: CALL, reason: 'enough', turnEnded: false } },
    }));
  it('and where none was given it is the end itself', () => {
    const { reason: _, ...silent } = END;
    expect(after(ready, silent)).toMatchObject({ event: { data: { reason: 'The grant that approved it was ended' } } });
  });
  it.each<[string, readonly Told[]]>([
    ['is not in the log', []],
    ['is not decided', [requested()]],
    ['was denied', [requested(), decided('denied')]],
    ['was used', [...ready, started]],
    ['was taken back', [...ready, revoked()]],
    ['has lapsed', [...ready, lapsed]],
  ])('but not what %s', (_, facts) => expect(after(facts, END)).toEqual({ kind: 'nothing-to-do' }));
  it('but nothing while it goes on', () => expect(after(ready)).toEqual({ kind: 'nothing-to-do' }));
});
