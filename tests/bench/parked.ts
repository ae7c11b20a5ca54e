import { eventually, World } from '../support/world.js';
import { below, latency, median, rounded } from './figures.js';
import { heapsOf, PROBED } from './heaps.js';
import { httpClient, type Post } from './http-client.js';
import type { BenchOptions } from './options.js';
import { openPending, pendingApproval } from './pending.js';

const LATENCY_TARGET = 1.2;
const HEAP_TARGET_BYTES = 64 * 1_024 * 1_024;
const DECISIONS_MOST = 100;

interface Side {
  readonly world: World;
  readonly approver: Post;
  pending: number;
  /** The next turn to be decided. */
  next: number;
}

/**
 * What it costs that much waits for a person: the heaps of the services after a collection, and how long a decision takes, against
 * a second installation in the same run where a hundredth waits. Each turn is a fact of its own.
 */
export async function* parked({ pending = 100_000, rounds = 5 }: BenchOptions): AsyncGenerator<object> {
  const decisions = Math.min(DECISIONS_MOST, Math.ceil(pending / 10));
  const [full, quiet] = [await startSide(decisions), await startSide(decisions)];
  try {
    const least = Math.ceil(pending / 100);
    await fillUpTo(quiet, least);
    let before = 0;
    for (const level of [least, Math.ceil(pending / 10), pending]) {
      await fillUpTo(full, level);
      const { services, heapBytes, brokerRssBytes } = await heapsOf(full.world);
      before ||= heapBytes;
      const added = heapBytes - before;
      yield { part: 'heaps', pending: level, heapBytes, addedHeapBytes: added, services, brokerRssBytes };
    }
    yield* measureLatency(full, quiet, { rounds, decisions, added: (await heapsOf(full.world)).heapBytes - before });
  } finally {
    await Promise.all([full.world.stop(), quiet.world.stop()]);
  }
}

async function startSide(decisions: number): Promise<Side> {
  const world = await World.start({ env: PROBED, servers: { fastDatabase: false } });
  const { token } = await world.approver();
  const side = { world, approver: httpClient(world.url, token, 4).post, pending: 0, next: 0 };
  // What is needed by the first requests is not what waiting costs.
  await decideSome(side, decisions);
  return side;
}

/** Until the lists have them too. */
async function fillUpTo(side: Side, pending: number): Promise<void> {
  if (side.pending >= pending) return;
  const to = side.next + pending;
  const seq = await openPending(side.world, side.next + side.pending, to);
  side.pending = pending;
  await eventually(async () => {
    const answer = await side.world.admin().get(`/v1/approvals?limit=1&after=${seq}`);
    if (answer.status !== 200) throw new Error(`The lists do not have fact ${seq} yet: ${answer.status}`);
  }, 600_000);
}

async function decideNext(side: Side): Promise<number> {
  const begun = performance.now();
  const { status, body } = await side.approver(`/v1/approvals/${pendingApproval(side.next)}/decision`, {
    decision: 'approve',
  });
  const took = performance.now() - begun;
  if (status !== 200) throw new Error(`A decision was answered ${status}: ${JSON.stringify(body)}`);
  side.next += 1;
  side.pending -= 1;
  return took;
}

/** One after the other; as many are pending at the end as were before. */
async function decideSome(side: Side, decisions: number): Promise<number[]> {
  await fillUpTo(side, side.pending + decisions);
  const tookMs: number[] = [];
  for (let decision = 0; decision < decisions; decision++) tookMs.push(await decideNext(side));
  return tookMs;
}

async function* measureLatency(
  full: Side,
  quiet: Side,
  { rounds, decisions, added }: { readonly rounds: number; readonly decisions: number; readonly added: number },
): AsyncGenerator<object> {
  const samples = { full: [] as number[], quiet: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    samples.quiet.push(...(await decideSome(quiet, decisions)));
    samples.full.push(...(await decideSome(full, decisions)));
  }
  yield { part: 'decisions', pending: full.pending, product: latency(samples.full), floor: latency(samples.quiet) };
  const slower = below(median(samples.full) / median(samples.quiet), LATENCY_TARGET);
  const heap = {
    addedHeapBytes: added,
    heapTargetBytes: HEAP_TARGET_BYTES,
    heapRatio: rounded(added / HEAP_TARGET_BYTES),
  };
  yield { ...slower, ...heap, met: slower.met && added < HEAP_TARGET_BYTES };
}
