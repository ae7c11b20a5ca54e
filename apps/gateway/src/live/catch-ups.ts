const AT_ONCE = 8;

/** Reads of the log's past cost the broker a consumer each: after a restart everybody wants one, and a few go at a time. */
export class CatchUps {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  async run<T>(read: () => Promise<T>): Promise<T> {
    while (this.running >= AT_ONCE) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.running += 1;
    try {
      return await read();
    } finally {
      this.running -= 1;
      this.waiting.shift()?.();
    }
  }
}
