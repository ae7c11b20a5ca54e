/** Reads ahead from the log into a bounded buffer, so that a transaction takes what is there and never waits to be full. */
export class Inflow<Item> {
  private readonly buffer: Item[] = [];
  private ended = false;
  private error: Error | undefined;
  private wakeReader: () => void = () => undefined;
  private wakeTaker: () => void = () => undefined;
  /** Resolved when the source is let go. */
  readonly closed: Promise<void>;

  constructor(
    source: AsyncIterable<Item>,
    private readonly mostBuffered: number,
  ) {
    this.closed = this.readAll(source);
  }

  /** At least one, at most so many; none once the source has ended. Throws what the source threw. */
  async take(most: number): Promise<Item[]> {
    while (this.buffer.length === 0 && !this.ended) await new Promise<void>((resolve) => (this.wakeTaker = resolve));
    if (this.buffer.length === 0 && this.error !== undefined) throw this.error;
    const taken = this.buffer.splice(0, most);
    this.wakeReader();
    return taken;
  }

  private async readAll(source: AsyncIterable<Item>): Promise<void> {
    try {
      for await (const raw of source) {
        this.buffer.push(raw);
        this.wakeTaker();
        while (this.buffer.length >= this.mostBuffered && !this.ended)
          await new Promise<void>((resolve) => (this.wakeReader = resolve));
        if (this.ended) return;
      }
    } catch (error) {
      this.error = error instanceof Error ? error : new Error(String(error));
    } finally {
      this.end();
    }
  }

  /** Nothing more is wanted: a reader that waits for room goes home. */
  end(): void {
    this.ended = true;
    this.wakeReader();
    this.wakeTaker();
  }
}
