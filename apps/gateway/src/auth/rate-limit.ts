/** A bucket a token: as many requests at once as it may make in a second, filled again at that rate. */
export class RateLimit {
  private readonly buckets = new Map<string, { left: number; at: number }>();

  constructor(
    /** Requests a second; 0 is no limit. */
    private readonly perSecond: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Seconds to wait before the next try, 0 where this one may pass. */
  take(key: string): number {
    if (this.perSecond === 0) return 0;
    const now = this.nowMs();
    const bucket = this.buckets.get(key) ?? { left: this.perSecond, at: now };
    const left = Math.min(this.perSecond, bucket.left + ((now - bucket.at) / 1_000) * this.perSecond);
    this.keep(key, { left: left < 1 ? left : left - 1, at: now });
    return left < 1 ? Math.ceil((1 - left) / this.perSecond) : 0;
  }

  private keep(key: string, bucket: { left: number; at: number }): void {
    this.buckets.delete(key);
    const [oldest] = this.buckets.keys();
    if (this.buckets.size >= BUCKETS_MAX && oldest !== undefined) this.buckets.delete(oldest);
    this.buckets.set(key, bucket);
  }
}

const BUCKETS_MAX = 10_000;
