import { describe, it } from '@jest/globals';
import { closeApproval } from './close-approval.js';
import {
  approved,
  CALL,
  decided,
  ended,
  given,
  lapsed,
  requested,
  revoked,
  started,
  type Told,
} from './stories-for-spec.js';

const close = (...facts: readonly Told[]) => given(...facts).when(closeApproval, { approvalId: CALL }, {});

describe('when the turn has ended', () => {
  it('what is undecided is cancelled, for the reason of the end', () =>
    void close(requested(), ended('cancelled', 'not needed')).then('ToolApprovalDecided', {
      decision: 'cancelled',
      reason: 'not needed',
    }));
  it('and where the end gives no reason, because it ended', () => {
    for (const end of [ended('failed'), ended('completed', '')])
      close(requested(), end).then('ToolApprovalDecided', { reason: 'The turn ended' });
  });
  it('what is approved and unused is taken back', () =>
    void close(requested(), approved, ended()).then('ToolApprovalRevoked', {
      turnEnded: true,
      reason: 'The turn ended',
    }));
  it('what began goes on', () => void close(requested(), approved, started, ended()).thenNothing());
  it('what was taken back or lapsed stays so', () => {
    for (const use of [revoked(), lapsed]) close(requested(), approved, use, ended()).thenNothing();
  });
  it.each(['denied', 'responded', 'expired', 'cancelled'] as const)('what was %s stays so', (decision) =>
    close(requested(), decided(decision), ended()).thenNothing(),
  );
});

describe('otherwise nothing is closed', () => {
  it('while the turn is open', () => {
    close(requested()).thenNothing();
    close(requested(), approved).thenNothing();
  });
  it('where the log has none', () => void close().thenNothing());
});
