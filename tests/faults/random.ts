/** Chance that can be had again: the same seed draws the same numbers, and a fork by name does not depend on its siblings. */
export class Random {
  private state: number;

  constructor(private readonly seed: string) {
    this.state = hash(seed);
  }

  fork(name: string | number): Random {
    return new Random(`${this.seed}/${name}`);
  }

  /** From 0 up to 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Whole numbers, both ends included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(of: number): boolean {
    return this.next() < of;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('Nothing to pick from');
    return item;
  }

  /** By weight: `{ often: 5, seldom: 1 }`. */
  weighed<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let at = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      at -= weight;
      if (at < 0) return name;
    }
    return this.pick(entries)[0];
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const keyed = items.map((item) => ({ item, at: this.next() }));
    return keyed.sort((a, b) => a.at - b.at).map(({ item }) => item);
  }
}

function hash(text: string): number {
  let h = 2_166_136_261;
  for (const char of text) h = Math.imul(h ^ (char.codePointAt(0) ?? 0), 16_777_619);
  return h >>> 0;
}
