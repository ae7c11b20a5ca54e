import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const KEPT_FOR_OURSELVES = 1_000;
const AT_ONCE = 200;

/** As many connections as were wanted, or as this machine lets one process have. */
export function allowedConnections(wanted: number): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? wanted : Math.min(wanted, Number(soft) - KEPT_FOR_OURSELVES);
  } catch {
    return wanted;
  }
}

/** Connected, having sent the bytes; whatever the server does with it later is no error of ours. */
export function send(port: number, bytes: Buffer | string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.off('error', reject);
      socket.on('error', () => socket.destroy());
      socket.write(bytes);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

/** A few at a time, so that the server's backlog is not what is tested. */
export async function sendMany(
  port: number,
  count: number,
  bytes: (index: number) => Buffer | string,
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const first = sockets.length;
    const wave = Math.min(AT_ONCE, count - first);
    sockets.push(...(await Promise.all(Array.from({ length: wave }, (_, index) => send(port, bytes(first + index))))));
  }
  return sockets;
}

/** Half of them politely, half by a reset: their state at the server ends in both ways. */
export async function leave(sockets: readonly Socket[]): Promise<void> {
  sockets.forEach((socket, index) => (index % 2 === 0 ? socket.destroy() : socket.resetAndDestroy()));
  await sleep(100);
}
