import type { Fact, Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import type { Instant } from '#contracts/ids';
import { Unavailable } from '#decider/unavailable';
import type { FactReader } from '#fold/read';

/** A message as the stream has it, byte for byte. */
export interface RawFact {
  readonly seq: number;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: Uint8Array;
  readonly storedAt: Instant;
}

/** What one guarded publish came to. Only `stored` and `taken` are certain (research: what the loser's error means). */
export type Appended =
  | { readonly is: 'stored'; readonly seq: number }
  /** The subject has a fact: mine of an earlier try, or another's. Read it to know. */
  | { readonly is: 'taken' }
  /** In flight elsewhere, no leader, or no answer: it may be stored or not. */
  | { readonly is: 'unclear'; readonly why: string }
  /** The broker has no room or refuses writes. */
  | { readonly is: 'full'; readonly why: string };

/** One delivery of a durable subscription; either `ack` or `again` must be called, after the work is durable. */
export interface Delivery<Event> {
  readonly raw: RawFact;
  /** Throws `UnreadableFact`: one that cannot be read holds up nothing but itself. */
  read(): Recorded<Event>;
  readonly deliveries: number;
  /** It is being worked on: it is not to be given to anybody else for as long as it would take to be acknowledged. */
  working(): void;
  ack(): void;
  /** Deliver it again after that long. */
  again(afterMs: number): void;
}

/** Which log this is and how far it goes: what a checkpoint is held against. */
export interface LogState {
  readonly createdAt: Instant;
  readonly lastSeq: number;
}

/** One write-once stream. Two implementations held to one contract test: JetStream, and memory for fast tests. */
export interface Log<Event = HoldpointEvent> extends FactReader<Event> {
  append(fact: Fact<Event>): Promise<Appended>;
  /** Every message after a sequence, in order, without end and without a gap, until aborted. Throws `LogGap` where one shows. */
  follow(after: number, signal: AbortSignal): AsyncIterable<RawFact>;
  /** What a durable subscription made by the bootstrap is given, until aborted. Redelivered until acknowledged. */
  deliveries(durable: string, signal: AbortSignal): AsyncIterable<Delivery<Event>>;
  state(): Promise<LogState>;
}

/** The broker has no room, or refuses writes: waiting a moment does not help. */
export class LogFull extends Unavailable {
  override readonly name = 'LogFull';
}

/** The stream misses a message that it once had, or has it under another sequence: nothing may be built on it. */
export class LogGap extends Error {
  override readonly name = 'LogGap';
  constructor(stream: string, seq: number) {
    super(`The stream ${stream} does not have message ${seq}`);
  }
}

/** A fact that this code cannot read: newer than the code, or damaged. Whoever meets one stops. */
export class UnreadableFact extends Error {
  override readonly name = 'UnreadableFact';
  constructor(
    readonly seq: number,
    readonly subject: string,
    why: string,
  ) {
    super(`Fact ${seq} under ${subject} cannot be read: ${why}`);
  }
}
