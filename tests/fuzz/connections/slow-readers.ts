import type { Socket } from 'node:net';
import type { Api } from '../../support/api.js';
import { listen } from '../../support/sse.js';
import { eventually } from '../../support/world.js';
import type { WatchedWorld } from '../watched-world.js';
import { send } from './sockets.js';

const CONVERSATION = 'c-slow';
const ARGS_BYTES = 40_000;
const SLOW = 20;
let turns = 0;

/** Streams that nobody reads while facts flow: whoever reads misses nothing, and the slow one can go on from its last id. */
export async function slowReaders(watched: WatchedWorld, facts: number): Promise<Record<string, number>> {
  const admin = watched.world.admin();
  const path = `/v1/conversations/${CONVERSATION}/events`;
  const request = `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${admin.token}\r\n\r\n`;
  const slow = await Promise.all(Array.from({ length: SLOW }, () => send(watched.port, request)));
  slow.forEach((socket) => socket.pause());
  const good = listen(admin, path);
  await good.opened;
  const before = await watched.measure('gateway');
  const written: number[] = [];
  for (let n = 0; n < facts; n += 1) written.push(await openBigTurn(admin));
  await eventually(() => Promise.resolve(checkAll(written, seqsOf(good.messages))));
  const during = await watched.measure('gateway');
  good.close();
  const late = await readRest(slow.map((socket) => socket.resume()));
  const missed = written.filter((seq) => seq > late);
  const again = listen(admin, path, { 'Last-Event-ID': String(late) });
  await again.opened;
  await eventually(() => Promise.resolve(checkAll(missed, seqsOf(again.messages))));
  again.close();
  return {
    slow: SLOW,
    facts,
    readBeforeGoingOn: facts - missed.length,
    heapBefore: before.heapUsed,
    heapWhileUnread: during.heapUsed,
    externalWhileUnread: during.external,
  };
}

async function openBigTurn(admin: Api): Promise<number> {
  const toolCalls = [{ toolCallId: 'c', toolName: 'big', args: { text: 'x'.repeat(ARGS_BYTES) } }];
  const { status, body } = await admin.post('/v1/turns', {
    conversationId: CONVERSATION,
    turnId: `t-${(turns += 1)}`,
    agent: { id: 'a' },
    toolCalls,
  });
  if (status !== 201) throw new Error(`A turn was not opened: ${status}`);
  return Number(body['seq']);
}

const seqsOf = (messages: readonly { readonly id: string | undefined }[]): ReadonlySet<number> =>
  new Set(messages.flatMap(({ id }) => (id === undefined ? [] : [Number(id)])));

function checkAll(wanted: readonly number[], got: ReadonlySet<number>): void {
  const lost = wanted.filter((seq) => !got.has(seq));
  if (lost.length > 0) throw new Error(`A reader has not got ${lost.length} of ${wanted.length} facts`);
}

const QUIET_MS = 1_000;

/** The last id that one of them read, after which nothing more came. */
async function readRest(sockets: readonly Socket[]): Promise<number> {
  const [socket] = sockets;
  if (!socket) throw new Error('There is no slow reader');
  let text = '';
  await new Promise<void>((resolve) => {
    let quiet = setTimeout(resolve, QUIET_MS);
    socket.on('close', () => resolve());
    socket.on('data', (chunk) => {
      text = (text + String(chunk)).slice(-2 * ARGS_BYTES);
      clearTimeout(quiet);
      quiet = setTimeout(resolve, QUIET_MS);
    });
  });
  sockets.forEach((one) => one.destroy());
  // What is not whole was not read: an id counts once its message has ended.
  const whole = text.slice(0, text.lastIndexOf('\n\n'));
  return Number([...whole.matchAll(/(?:^|\n)id: (\d+)\n/g)].at(-1)?.[1] ?? 0);
}
