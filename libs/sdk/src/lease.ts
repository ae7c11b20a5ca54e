import type { Client } from './client.js';
import { sleep } from './client.js';
import { isProblem } from './problems.js';

/** A turn, or one call of it, that this worker has for now. */
export interface Held {
  readonly leaseId: string;
  readonly workerId: string;
  readonly attempt: number;
  readonly leaseUntil: string;
}

/** Extends a lease for as long as the work takes; aborts the work when the lease is somebody else's. */
export async function holding<Result>(
  client: Client,
  held: Held,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const done = new AbortController();
  const lost = new AbortController();
  const signal = outer ? AbortSignal.any([outer, lost.signal]) : lost.signal;
  const extending = keepExtending(client, held, done.signal, (why) => lost.abort(why));
  try {
    return await work(signal);
  } finally {
    done.abort();
    await extending;
  }
}

async function keepExtending(
  client: Client,
  { leaseId, workerId, attempt, leaseUntil }: Held,
  signal: AbortSignal,
  lost: (why: unknown) => void,
): Promise<void> {
  const path = `/v1/continuations/${leaseId}/extend`;
  let until = Date.parse(leaseUntil);
  while (!signal.aborted) {
    await sleep(Math.max(500, (until - Date.now()) / 2), signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      const patienceMs = Math.max(1_000, until - Date.now());
      const extended = await client.post<{ leaseUntil: string }>(path, { workerId, attempt }, { signal, patienceMs });
      until = Date.parse(extended.leaseUntil);
    } catch (error) {
      if (signal.aborted) return;
      if (isProblem(error) || Date.now() >= until) return lost(error);
    }
  }
}
