/** Who waits for what, by key, in memory only. */
export class Wakers<Value> {
  private readonly byKey = new Map<string, Set<(value: Value) => void>>();

  /** Returns what takes it off again. */
  add(key: string, wake: (value: Value) => void): () => void {
    const waiting = this.byKey.get(key) ?? new Set();
    waiting.add(wake);
    this.byKey.set(key, waiting);
    return () => {
      waiting.delete(wake);
      if (waiting.size === 0 && this.byKey.get(key) === waiting) this.byKey.delete(key);
    };
  }

  has(key: string): boolean {
    return this.byKey.has(key);
  }

  /** One that throws keeps nobody else from being woken. */
  wake(key: string, value: Value, failed: (error: unknown) => void): void {
    for (const wake of [...(this.byKey.get(key) ?? [])]) attempt(() => wake(value), failed);
  }
}

export function attempt(run: () => void, failed: (error: unknown) => void): void {
  try {
    run();
  } catch (error) {
    failed(error);
  }
}
