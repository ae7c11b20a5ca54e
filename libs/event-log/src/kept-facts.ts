import { LRUCache } from 'lru-cache';
import type { Recorded } from '#contracts/envelope';

const KEPT_BYTES = 2_097_152;

/**
 * Facts that were read, by their own subjects. A fact is written once and never changes, so that one that was seen is true
 * for ever; that there is none is never kept. Bounded, and forgotten with the connection: the log behind another one may be
 * another log.
 */
export class KeptFacts<Event> {
  private readonly kept = new LRUCache<string, Recorded<Event>>({ maxSize: KEPT_BYTES });

  get(subject: string): Recorded<Event> | undefined {
    return this.kept.get(subject);
  }

  keep(fact: Recorded<Event>, bytes: number): Recorded<Event> {
    this.kept.set(fact.subject, fact, { size: bytes + fact.subject.length });
    return fact;
  }

  forget(): void {
    this.kept.clear();
  }
}
