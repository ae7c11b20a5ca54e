import {
  DeliverPolicy,
  JetStreamApiError,
  jetstream,
  type ConsumerMessages,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type MsgRequest,
  type StoredMsg,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Fact, Recorded } from '#contracts/envelope';
import type { HoldpointEvent, Written } from '#contracts/events';
import { instant } from '#contracts/ids';
import { decodeFact, encodeFact } from './codec.js';
import { KeptFacts } from './kept-facts.js';
import { deliveryOf, rawOfDelivered, rawOfStored, toNatsHeaders } from './jetstream-message.js';
import { Unavailable } from '#decider/unavailable';
import { LogGap, type Appended, type Delivery, type Log, type LogState, type RawFact } from './log.js';

const PUBLISH_TIMEOUT_MS = 2_000;
const WRONG_LAST_SEQUENCE = 10071;
const WRITE_IN_FLIGHT = 10164;
const MAXIMUM_REACHED = 10077;
const NO_RESOURCES = 10023;
const TOO_BIG = 10054;
const NO_MESSAGE = 10037;
/**
 * The servers of a cluster do not see that whoever asked is no more (our accounts lie between): until a pull has
 * expired, what it asked for goes there.
 */
const A_PULL = { expires: 5_000, idle_heartbeat: 1_000, abort_on_missing_resource: true };

/**
 * Facts on their way to one that follows, as large as they may be: the broker cuts off whoever has not taken 64 MiB of what it
 * sent, with everything else on that connection, and one that asks again may be sent as many twice.
 */
const UNDER_WAY = 25;

/** How a service reads its stream in order: the projector by a durable of its own that it positions, others by ordered consumers. */
export type Following = { readonly by: 'ordered-consumer' } | { readonly by: 'durable'; readonly name: string };

export interface JetStreamLogOptions {
  readonly stream: string;
  /** The identity that writes: `ce-source`. */
  readonly source: string;
  readonly following: Following;
}

/** One write-once JetStream stream. A read of what is not kept goes to the leader, every write expects its subject to be empty. */
export class JetStreamLog<Event extends Written = HoldpointEvent> implements Log<Event> {
  private readonly client: JetStreamClient;
  private readonly kept = new KeptFacts<Event>();

  constructor(
    private readonly connection: NatsConnection,
    private readonly manager: JetStreamManager,
    private readonly options: JetStreamLogOptions,
  ) {
    this.client = jetstream(connection);
  }

  /** Never `Nats-Msg-Id`, never a wildcard guard, never a batch: each would break the promise (design 3.1). */
  async append(fact: Fact<Event>): Promise<Appended> {
    const { headers, data } = encodeFact(fact, this.options.source);
    const expect = { lastSubjectSequence: 0, streamName: this.options.stream };
    const options = { headers: toNatsHeaders(headers), expect, timeout: PUBLISH_TIMEOUT_MS, retries: 0 };
    try {
      const ack = await this.client.publish(fact.subject, data, options);
      if (ack.duplicate)
        throw new Error(`The broker took ${fact.subject} for a duplicate, which only a message id can cause`);
      return { is: 'stored', seq: ack.seq };
    } catch (error) {
      return this.appendedDespite(error, fact.subject);
    }
  }

  /** What the broker's refusal means, exactly (research on JetStream, 1.2): most of them are no proof of anything. */
  private async appendedDespite(error: unknown, subject: string): Promise<Appended> {
    if (!(error instanceof JetStreamApiError)) {
      if (isOutage(error)) return { is: 'unclear', why: messageOf(error) };
      throw error;
    }
    switch (error.code) {
      case WRONG_LAST_SEQUENCE:
        return { is: 'taken' };
      case MAXIMUM_REACHED:
        return (await this.last(subject)) ? { is: 'taken' } : { is: 'full', why: error.message };
      case NO_RESOURCES:
        return { is: 'full', why: error.message };
      case TOO_BIG:
        throw new Error(`A fact under ${subject} is larger than the stream allows: the door let it through`, {
          cause: error,
        });
      case WRITE_IN_FLIGHT:
      default:
        return { is: 'unclear', why: error.message };
    }
  }

  /** Of an exact subject there is only one: where it was seen before, nobody needs to be asked. */
  async last(filter: string): Promise<Recorded<Event> | undefined> {
    return this.kept.get(filter) ?? this.get({ last_by_subj: filter });
  }

  async next(filter: string, fromSeq: number): Promise<Recorded<Event> | undefined> {
    const query = { seq: fromSeq, next_by_subj: filter };
    return this.get(query);
  }

  private async get(query: MsgRequest): Promise<Recorded<Event> | undefined> {
    const stored = await this.stored(query);
    return stored ? this.kept.keep(decodeFact<Event>(rawOfStored(stored)), stored.data.length) : undefined;
  }

  private async stored(query: MsgRequest): Promise<StoredMsg | undefined> {
    try {
      return (await this.manager.streams.getMessage(this.options.stream, query)) ?? undefined;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === NO_MESSAGE) return undefined;
      if (error instanceof JetStreamApiError || isOutage(error))
        throw new Unavailable(`The log does not answer: ${messageOf(error)}`);
      throw error;
    }
  }

  async *follow(after: number, signal: AbortSignal): AsyncIterable<RawFact> {
    let seq = after;
    while (!signal.aborted) {
      const messages = await this.openAfter(seq);
      if (this.options.following.by === 'durable') void this.askAgain(messages, this.options.following.name, () => seq);
      for await (const message of untilAborted(messages, signal)) {
        while (seq + 1 < message.seq) yield await this.lost((seq += 1));
        if (message.seq <= seq) continue;
        seq = message.seq;
        yield rawOfDelivered(message);
      }
    }
  }

  /** One that a later one came before, from the leader. Only a stream that goes on behind it without it has a gap. */
  private async lost(seq: number): Promise<RawFact> {
    const query = { seq, next_by_subj: '>' };
    const stored = await this.stored(query);
    if (!stored) throw new Unavailable(`The log gave a message after ${seq}, but has none from there on`);
    if (stored.seq !== seq) throw new LogGap(this.options.stream, seq);
    return rawOfStored(stored);
  }

  /** Where the broker says that it gave more than what came, the rest went to a reader that is no more. */
  private async askAgain(messages: ConsumerMessages, durable: string, seqOf: () => number): Promise<void> {
    for await (const told of messages.status()) {
      const isMissed = told.type === 'heartbeat' && told.lastStreamSequence > seqOf();
      const hasMore = messages.getReceived() > messages.getProcessed();
      // Without an answer it is asked at the next heartbeat.
      if (isMissed && !hasMore)
        await this.manager.consumers.reset(this.options.stream, durable, seqOf() + 1).catch(() => undefined);
    }
  }

  private async openAfter(seq: number): Promise<ConsumerMessages> {
    const { stream, following } = this.options;
    if (following.by === 'ordered-consumer') {
      const from = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: seq + 1 };
      return (await this.client.consumers.get(stream, from)).consume({ max_messages: UNDER_WAY });
    }
    await this.manager.consumers.reset(stream, following.name, seq + 1);
    return (await this.client.consumers.get(stream, following.name)).consume({ ...A_PULL, max_messages: UNDER_WAY });
  }

  async *deliveries(durable: string, signal: AbortSignal): AsyncIterable<Delivery<Event>> {
    const consumer = await this.client.consumers.get(this.options.stream, durable);
    const messages = await consumer.consume({ ...A_PULL, max_messages: 64 });
    for await (const message of untilAborted(messages, signal)) yield deliveryOf<Event>(message);
  }

  /** The connection may lead to another log from now on. */
  forget(): void {
    this.kept.forget();
  }

  async state(): Promise<LogState> {
    const info = await this.manager.streams.info(this.options.stream);
    // In a cluster another server answers for a stream that nobody leads.
    if (info.cluster && !info.cluster.leader) throw new Unavailable('Nobody leads the log');
    return { createdAt: instant(Date.parse(info.created)), lastSeq: info.state.last_seq };
  }
}

/** Ends the iteration when aborted; an iterator that is closed any other way throws. */
export async function* untilAborted(messages: ConsumerMessages, signal: AbortSignal): AsyncIterable<JsMsg> {
  // With the connection away it cannot say goodbye; the subscription is over with the connection.
  const close = () => void messages.close().catch(() => undefined);
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  try {
    for await (const message of messages) {
      if (signal.aborted) return;
      yield message;
    }
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

const OUTAGES = [
  'TimeoutError',
  'NoRespondersError',
  'RequestError',
  'ClosedConnectionError',
  'DrainingConnectionError',
  'ConnectionError',
  'JetStreamNotEnabled',
];

function isOutage(error: unknown): boolean {
  return error instanceof Error && (OUTAGES.includes(error.name) || isOutage(error.cause));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
