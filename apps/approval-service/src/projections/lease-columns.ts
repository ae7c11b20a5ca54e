import type { Recorded } from '#contracts/envelope';
import { leaseAfter, type LeaseEvent } from '#fold/lease';

/** The last lease fact alone says who has it, in a turn's row as in an approval's. */
export function leaseColumns(event: LeaseEvent, fact: Recorded) {
  const lease = leaseAfter(event, fact);
  if (lease.state === 'never-taken') return {};
  return {
    lease_state: lease.state,
    lease_attempt: lease.attempt,
    lease_worker_id: lease.workerId,
    lease_since: lease.since,
    lease_until: lease.until,
  };
}
