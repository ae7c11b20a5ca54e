import type { Budget, Outcome } from '../campaign.js';
import { WatchedWorld, type Held } from '../watched-world.js';
import { eventually } from '../../support/world.js';
import { badClients, stillServes } from './bad-clients.js';
import { slowReaders } from './slow-readers.js';
import { allowedConnections, leave, sendMany } from './sockets.js';

/** Above what it held before, after everybody has gone: caches may have filled, connections may not have stayed. */
const HEAP_RATIO = 1.5;
const FILES_RATIO = 1.2;
const SETTLE_MS = 60_000;

export interface Crowd {
  readonly idle: number;
  readonly bad: number;
  readonly facts: number;
}
const WHOLE_CROWD: Crowd = { idle: 10_000, bad: 500, facts: 400 };

export const connectionsCampaign = (_: Budget): Promise<Outcome> => crowded(WHOLE_CROWD);

/** Crowds come and go; the gateway serves the others meanwhile, and holds afterwards what it held before. */
export async function crowded({ idle, bad, facts }: Crowd): Promise<Outcome> {
  const watched = await WatchedWorld.start();
  const findings: string[] = [];
  try {
    // Whatever is made at the first use is made before it is counted.
    await badClients(watched, 20);
    await slowReaders(watched, 5);
    const before = await watched.measure('gateway');
    const crowd = await idleCrowd(watched, allowedConnections(idle));
    const opened = await badClients(watched, bad);
    const slow = await slowReaders(watched, facts).catch((error: unknown) => void findings.push(String(error)));
    await watched.world.ready();
    await story(watched);
    const after = await settled(watched, before).catch((error: unknown) => void findings.push(String(error)));
    const figures = { idle: crowd, bad: opened, slow, before, after };
    return { name: 'connections', runs: 1, findings: [...findings, ...watched.takeTroubles()], figures };
  } finally {
    await watched.stop();
  }
}

async function idleCrowd(watched: WatchedWorld, count: number): Promise<object> {
  const sockets = await sendMany(watched.port, count, () => 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  sockets.forEach((socket) => socket.resume());
  await stillServes(watched, 'a crowd that is idle');
  const held = await watched.measure('gateway');
  await leave(sockets);
  return { connections: count, held };
}

/** One approval from the question to the outcome's permission. */
async function story({ world }: WatchedWorld): Promise<void> {
  const admin = world.admin();
  const args = { to: 'x@example.com' };
  const turn = {
    conversationId: 'after',
    agent: { id: 'a' },
    toolCalls: [{ toolCallId: 'c', toolName: 'send', args }],
  };
  const opened = await admin.post('/v1/turns', turn);
  const approvalId = String((opened.body['approvals'] as { approvalId: string }[])[0]?.approvalId);
  const ada = await world.approver();
  const decided = await ada.post(`/v1/approvals/${approvalId}/decision`, { decision: 'approve' });
  if (opened.status !== 201 || decided.status !== 200)
    throw new Error(`The story ended with ${opened.status}, ${decided.status}`);
}

const settled = (watched: WatchedWorld, before: Held): Promise<Held> =>
  eventually(async () => {
    const now = await watched.measure('gateway');
    if (now.heapUsed > before.heapUsed * HEAP_RATIO)
      throw new Error(`The heap was ${before.heapUsed} and stays at ${now.heapUsed}`);
    if ((now.files ?? 0) > (before.files ?? 0) * FILES_RATIO)
      throw new Error(`There were ${before.files} open files and there stay ${now.files}`);
    return now;
  }, SETTLE_MS);
