import type { ApprovalStatus } from '#contracts/statuses';

/** The same rules as `approvalStatus` of the fold, in SQL over an approval `a` and its turn `t`; held together by a test. */
const runsUnderItsLease = (now: string): string => `COALESCE(CASE WHEN a.release = 'all'
    THEN t.lease_state = 'taken' AND t.lease_until > ${now}::timestamptz AND t.lease_attempt = a.use_attempt
    ELSE a.lease_state = 'taken' AND a.lease_until > ${now}::timestamptz AND a.lease_attempt = a.use_attempt END, false)`;

/** A hold that was withdrawn or is over stands at the beginning of time. */
const IS_HELD = `(a.held_until IS NOT NULL AND a.held_until > to_timestamp(0))`;
const UNDECIDED = 'a.decision IS NULL AND a.use_is IS NULL AND a.outcome_ok IS NULL';

export const statusSql = (now: string): string => `CASE
    WHEN a.outcome_ok THEN 'executed'
    WHEN NOT a.outcome_ok THEN 'failed'
    WHEN a.use_is = 'started' THEN CASE WHEN ${runsUnderItsLease(now)} THEN 'executing' ELSE 'in-doubt' END
    WHEN a.use_is IS NOT NULL THEN a.use_is
    ELSE COALESCE(a.decision, CASE WHEN ${IS_HELD} THEN 'held' ELSE 'pending' END) END`;

const decidedAs = (decision: ApprovalStatus) =>
  `a.decision = '${decision}' AND a.use_is IS NULL AND a.outcome_ok IS NULL`;
const usedAs = (use: string) => `a.use_is = '${use}' AND a.outcome_ok IS NULL`;

/** One condition a status, written so that the index of what is open serves it. */
const CONDITIONS: Readonly<Record<ApprovalStatus, (now: string) => string>> = {
  pending: () => `${UNDECIDED} AND NOT ${IS_HELD}`,
  held: () => `${UNDECIDED} AND ${IS_HELD}`,
  approved: () => decidedAs('approved'),
  executing: (now) => `${usedAs('started')} AND ${runsUnderItsLease(now)}`,
  executed: () => 'a.outcome_ok',
  failed: () => 'NOT a.outcome_ok',
  'in-doubt': (now) => `${usedAs('started')} AND NOT ${runsUnderItsLease(now)}`,
  revoked: () => usedAs('revoked'),
  lapsed: () => usedAs('lapsed'),
  denied: () => decidedAs('denied'),
  responded: () => decidedAs('responded'),
  expired: () => decidedAs('expired'),
  cancelled: () => decidedAs('cancelled'),
};

export const hasStatus = (status: ApprovalStatus, now: string): string => CONDITIONS[status](now);

export const WITH_TURN = 'approvals a LEFT JOIN turns t ON t.tenant = a.tenant AND t.turn_key = a.turn_key';
