/** What was just tried and is let alone for a while. */
export class Resting {
  private readonly until = new Map<string, number>();

  constructor(private readonly restsMs: number) {}

  begin(key: string, now: number): void {
    this.until.delete(key);
    this.until.set(key, now + this.restsMs);
  }

  has(key: string, now: number): boolean {
    return (this.until.get(key) ?? 0) > now;
  }

  /** Forgets those that are awake again: the oldest come first. */
  count(now: number): number {
    for (const [key, until] of this.until) {
      if (until > now) break;
      this.until.delete(key);
    }
    return this.until.size;
  }
}
