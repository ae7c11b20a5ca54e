import type { Socket } from 'node:net';
import type { WatchedWorld } from '../watched-world.js';
import { leave, sendMany } from './sockets.js';

const head = (method: string, path: string, token: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n${more}`;

/** Kinds of connection that ask for nothing good; each is opened many times, looked at, and left. */
const KINDS: Readonly<Record<string, (token: string, index: number) => string>> = {
  'idle after one request': (token) => `${head('GET', '/v1/me', token)}\r\n`,
  'never sending a byte': () => '',
  'headers that never end': (token, index) => head('GET', '/v1/me', token, `x-${index}: y`),
  'a body that never ends': (token) =>
    `${head('POST', '/v1/turns', token, 'content-type: application/json\r\ncontent-length: 1000000\r\n')}\r\n{"conversationId":`,
  'chunks that never end': (token) =>
    `${head('POST', '/v1/turns', token, 'content-type: application/json\r\ntransfer-encoding: chunked\r\n')}\r\n5\r\n{"a":`,
  'a flood of headers': (token, index) =>
    head('GET', '/v1/me', token, `x-${index}: ${'y'.repeat(64)}\r\n`.repeat(2_000)),
  'waiting for a turn': (token) => `${head('GET', '/v1/turns/t-0?conversationId=c-1&wait=60', token)}\r\n`,
  'waiting for work': (token) => {
    const body = '{"workerId":"w","waitSeconds":60}';
    return `${head('POST', '/v1/pools/default/continuations/pull', token, `content-type: application/json\r\ncontent-length: ${body.length}\r\n`)}\r\n${body}`;
  },
  'a stream from anywhere': (token, index) =>
    `${head('GET', '/v1/conversations/c-1/events', token, `last-event-id: ${FROM[index % FROM.length]}\r\n`)}\r\n`,
  'approvals from anywhere': (token, index) =>
    `${head('GET', '/v1/stream', token, `last-event-id: ${FROM[index % FROM.length]}\r\n`)}\r\n`,
};
const FROM = ['0', '1', '9007199254740991', '9007199254740993', '-1', 'x', '', '1e3', '99999', ' 5'] as const;

/** Everybody else is served while they are there, and nobody notices when they go. */
export async function badClients(watched: WatchedWorld, count: number): Promise<Record<string, number>> {
  const { token } = watched.world.admin();
  const opened: Record<string, number> = {};
  for (const [name, bytes] of Object.entries(KINDS)) {
    const sockets = await sendMany(watched.port, count, (index) => bytes(token, index));
    sockets.forEach((socket: Socket) => socket.resume());
    await stillServes(watched, name);
    await leave(sockets);
    opened[name] = sockets.length;
  }
  return opened;
}

export async function stillServes(watched: WatchedWorld, during: string): Promise<void> {
  const { status } = await watched.world.admin().get('/v1/me');
  if (status !== 200) throw new Error(`Somebody else was answered ${status}, during: ${during}`);
}
