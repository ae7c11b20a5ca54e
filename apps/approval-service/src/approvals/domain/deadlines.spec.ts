import { describe, expect, it } from '@jest/globals';
import { expireApproval } from './expire-approval.js';
import { lapseApproval } from './lapse-approval.js';
import {
  after,
  approved,
  CALL,
  DAY,
  decided,
  DIGEST,
  ended,
  expired,
  given,
  lapsed,
  requested,
  revoked,
  started,
  type Told,
} from './stories-for-spec.js';

const expire = (facts: readonly Told[], second = DAY) =>
  given(...facts).when(expireApproval, { approvalId: CALL }, { now: after(second) });
const lapse = (facts: readonly Told[], second = DAY + 60) =>
  given(...facts).when(lapseApproval, { approvalId: CALL }, { now: after(second) });

describe('an approval expires', () => {
  it('at its deadline', () =>
    expect(expire([requested()]).event()).toMatchObject({
      approvalId: CALL,
      decision: 'expired',
      argsDigest: DIGEST,
      requestSeq: 1,
    }));
  it('at the shorter deadline of its request', () =>
    void expire([requested({ expiresInSeconds: 5 })], 5).then('ToolApprovalDecided', { decision: 'expired' }));
  it('not before', () => void expire([requested()], DAY - 0.001).thenNothing());
  it('not where the log has none', () => void expire([]).thenNothing());
  it('not once it is decided', () => void expire([requested(), approved]).thenNothing());
  it('once only', () => void expire([requested(), expired], 2 * DAY).thenNothing());
});

describe('an unused approval lapses', () => {
  it('a day after its decision', () => expect(lapse([requested(), approved]).event()).toEqual({ approvalId: CALL }));
  it('not before', () => void lapse([requested(), approved], DAY + 59.999).thenNothing());
  it('not where the log has none', () => void lapse([]).thenNothing());
  it('not before it is decided', () => void lapse([requested()], 3 * DAY).thenNothing());
  it.each(['denied', 'responded', 'expired', 'cancelled'] as const)('not where it was %s', (decision) =>
    lapse([requested(), decided(decision)], 3 * DAY).thenNothing(),
  );
  it('not once it was used or taken back', () => {
    for (const use of [started, revoked()]) lapse([requested(), approved, use], 3 * DAY).thenNothing();
  });
  it('once only', () => void lapse([requested(), approved, lapsed], 3 * DAY).thenNothing());
  it('in an ended turn too', () => void lapse([requested(), approved, ended()]).then('ToolApprovalLapsed', {}));
});
