import type { LeaseKey } from '#contracts/ids';
import type { Stray } from './waiting-pull.js';

const STRAYS_MAX = 1_000;

/**
 * Commands of one pool that are offered directly, whatever the broker's subscription makes of them. Memory only and bounded:
 * one that is lost comes back from the broker, or from the reconciler.
 */
export class StrayOffers {
  private readonly strays = new Map<LeaseKey, Stray>();

  get size(): number {
    return this.strays.size;
  }

  add(stray: Stray): void {
    const [oldest] = this.strays.keys();
    if (this.strays.size >= STRAYS_MAX && oldest !== undefined) this.strays.delete(oldest);
    this.strays.set(stray.command.key, stray);
  }

  /** Takes out up to that many, oldest first. */
  take(max: number): readonly Stray[] {
    const taken = [...this.strays.values()].slice(0, Math.max(0, max));
    for (const { command } of taken) this.strays.delete(command.key);
    return taken;
  }
}
