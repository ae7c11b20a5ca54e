import { instant } from '#contracts/ids';
import type { Fact, Recorded } from '#contracts/envelope';
import type { HoldpointEvent, Written } from '#contracts/events';
import { decodeFact, encodeFact } from './codec.js';
import type { Appended, Delivery, Log, LogState, RawFact } from './log.js';

/** The log without a broker: the same contract, for tests that need the rules and not the disk. */
export class MemoryLog<Event extends Written = HoldpointEvent> implements Log<Event> {
  private readonly facts: RawFact[] = [];
  private readonly taken = new Map<string, RawFact>();
  private readonly createdAt = instant(Date.now());
  private waiting: (() => void)[] = [];

  constructor(private readonly filters: Readonly<Record<string, readonly string[]>> = {}) {}

  async append(fact: Fact<Event>): Promise<Appended> {
    await Promise.resolve();
    if (this.taken.has(fact.subject)) return { is: 'taken' };
    const seq = this.facts.length + 1;
    const raw = { seq, subject: fact.subject, ...encodeFact(fact, 'memory'), storedAt: instant(Date.now()) };
    this.facts.push(raw);
    this.taken.set(raw.subject, raw);
    for (const wake of this.waiting.splice(0)) wake();
    return { is: 'stored', seq };
  }

  async last(filter: string): Promise<Recorded<Event> | undefined> {
    await Promise.resolve();
    const found = this.taken.get(filter) ?? this.facts.findLast((raw) => matches(filter, raw.subject));
    return found && decodeFact<Event>(found);
  }

  async next(filter: string, fromSeq: number): Promise<Recorded<Event> | undefined> {
    await Promise.resolve();
    const found = this.facts.find((raw) => raw.seq >= fromSeq && matches(filter, raw.subject));
    return found && decodeFact<Event>(found);
  }

  async *follow(after: number, signal: AbortSignal): AsyncIterable<RawFact> {
    for (let at = after; !signal.aborted;) {
      const fact = this.facts[at];
      if (fact) {
        at += 1;
        yield fact;
      } else await this.more(signal);
    }
  }

  async *deliveries(durable: string, signal: AbortSignal): AsyncIterable<Delivery<Event>> {
    const filters = this.filters[durable];
    if (!filters) throw new Error(`There is no durable subscription named ${durable}`);
    const again: Delivery<Event>[] = [];
    const redeliver = (delivery: Delivery<Event>) => {
      again.push(delivery);
      for (const wake of this.waiting.splice(0)) wake();
    };
    for (let at = 0; !signal.aborted;) {
      const due = again.shift();
      const fact = this.facts[at];
      if (due) yield due;
      else if (fact) {
        at += 1;
        if (filters.some((filter) => matches(filter, fact.subject))) yield deliveryOf(fact, 1, redeliver);
      } else await this.more(signal);
    }
  }

  async state(): Promise<LogState> {
    await Promise.resolve();
    return { createdAt: this.createdAt, lastSeq: this.facts.length };
  }

  private more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

function deliveryOf<Event extends Written>(
  raw: RawFact,
  deliveries: number,
  redeliver: (delivery: Delivery<Event>) => void,
): Delivery<Event> {
  return {
    raw,
    read: () => decodeFact<Event>(raw),
    deliveries,
    working: () => undefined,
    ack: () => undefined,
    again: (afterMs) => void setTimeout(() => redeliver(deliveryOf(raw, deliveries + 1, redeliver)), afterMs),
  };
}

/** NATS wildcards: `*` is one token, `>` is the rest. */
export function matches(filter: string, subject: string): boolean {
  const wanted = filter.split('.');
  const given = subject.split('.');
  return (
    wanted.every((token, at) =>
      token === '>' ? given.length > at : token === '*' ? given.length > at : token === given[at],
    ) &&
    (wanted.at(-1) === '>' || wanted.length === given.length)
  );
}
