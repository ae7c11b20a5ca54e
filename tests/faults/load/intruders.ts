import { digest } from '../canonical.js';
import type { Taken, Worker } from './workers.js';

/** Whatever was decided but not approved must not run. */
export async function tryUnapproved(worker: Worker, taken: Taken): Promise<void> {
  const { client, workerId, ledger } = worker;
  const { attempt } = taken;
  for (const { approvalId, args, decision } of taken.results) {
    if (decision === 'approved') continue;
    const argsDigest = digest(args);
    const path = `/v1/approvals/${approvalId}/use`;
    const used = await client.insist({ op: 'use', path, body: { workerId, attempt, argsDigest } });
    if (used?.status === 200) ledger.write({ is: 'ran', at: Date.now(), approvalId, attempt, workerId, argsDigest });
  }
}

/** Another worker of the same token, which has taken nothing but knows the attempt: it must achieve nothing. */
export async function intrude(worker: Worker, taken: Taken, { approvalId, args }: Record<string, any>): Promise<void> {
  const { client, ledger } = worker;
  const { leaseId, attempt } = taken;
  const workerId = `${worker.workerId}-x`;
  const argsDigest = digest(args);
  await client.insist({ op: 'extend', path: `/v1/continuations/${leaseId}/extend`, body: { workerId, attempt } });
  const use = { workerId, attempt, argsDigest };
  const used = await client.insist({ op: 'use', path: `/v1/approvals/${approvalId}/use`, body: use });
  if (used?.status === 200) ledger.write({ is: 'ran', at: Date.now(), approvalId, ...use });
}

export async function reportAsAnother(
  { client, workerId }: Worker,
  attempt: number,
  approvalId: string,
): Promise<void> {
  const body = { workerId: `${workerId}-x`, attempt, ok: true, result: { sent: 'by another' } };
  await client.insist({ op: 'outcome', path: `/v1/approvals/${approvalId}/outcome`, body });
}
