/** Work under one key is done one after the other, in the order in which it came; under different keys side by side. */
export class OneAtATime {
  private readonly last = new Map<string, Promise<unknown>>();

  run<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const done = () => void (this.last.get(key) === mine && this.last.delete(key));
    this.last.set(key, mine);
    mine.then(done, done);
    return mine;
  }
}
