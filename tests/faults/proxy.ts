import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * `open` lets everything pass. `cut` breaks what there is and lets nobody in. `hole` keeps connections, and lets nothing
 * through: half open, as when a cable is out. A number delays all that passes by so many milliseconds.
 */
export type Passage = 'open' | 'cut' | 'hole' | number;

/** Stands between two programs that speak TCP. */
export class Proxy {
  private passage: Passage = 'open';
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: () => number,
  ) {
    server.on('connection', (socket) => this.accept(socket));
  }

  /** The target's port is asked for at each connection: it may not be known yet. */
  static async listen(target: () => number): Promise<Proxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Proxy(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  let(passage: Passage): void {
    this.passage = passage;
    // What was swallowed by the hole is missing in the stream: after it there can only be new connections.
    for (const socket of this.sockets) if (passage === 'cut' || passage === 'open') socket.destroy();
  }

  close(): void {
    this.let('cut');
    this.server.close();
  }

  private accept(near: Socket): void {
    if (this.passage === 'cut') return void near.destroy();
    const far = connect(this.target(), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(one);
      one.setNoDelay(true);
      one.on('error', () => one.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
      one.on('data', (chunk: Buffer) => this.pass(chunk, other));
    }
  }

  private pass(chunk: Buffer, to: Socket): void {
    if (this.passage === 'hole') return;
    if (typeof this.passage === 'number') setTimeout(() => to.writable && to.write(chunk), this.passage);
    else if (to.writable) to.write(chunk);
  }
}
