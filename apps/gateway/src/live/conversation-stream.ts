import type { ServerResponse } from 'node:http';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { hasRole, mayUsePool, speaksForAgent, type Caller } from '#contracts/roles';
import { placeOf } from '#contracts/subjects';
import { decodeFact } from '#event-log/codec';
import type { Log, RawFact } from '#event-log/log';
import { refused } from '../http/problem.js';
import type { CatchUps } from './catch-ups.js';
import type { Changes, ReportLive } from './changes.js';
import { messagesOf, withoutContents, type ToldTurn } from './conversation-messages.js';
import { Sse, sseMessages } from './sse.js';
import type { ToldTurns } from './told-turns.js';

export interface ConversationStreams {
  readonly log: Log;
  readonly changes: Changes;
  readonly turns: ToldTurns;
  readonly catchUps: CatchUps;
  readonly report: ReportLive;
}

export interface ConversationRequest {
  readonly caller: Caller;
  readonly conversationId: string;
  /** The last id that the client has seen; only what is new where it has seen none. */
  readonly after?: number;
  /** Where the stream is written; from then on no problem document can be sent any more. */
  readonly takeOver: () => ServerResponse;
  readonly signal: AbortSignal;
  readonly isStillGood: () => Promise<boolean>;
}

type Fact = Recorded<HoldpointEvent>;

/** Tells a conversation from `after` on: every fact once and in order, first from the log's past, then as it happens. */
export async function streamConversation(streams: ConversationStreams, request: ConversationRequest): Promise<void> {
  if (streams.changes.position === undefined) throw refused('unavailable', 'This gateway is starting; ask again');
  const start = await startOf(streams.log, request.after);
  const telling = new Telling(streams, request, start);
  await telling.ended();
}

/** An id beyond the log's end is of another log: there is nothing to go on from. */
async function startOf(log: Log, after: number | undefined): Promise<number> {
  const { lastSeq } = await log.state();
  return after === undefined || after > lastSeq ? lastSeq : after;
}

class Telling {
  private readonly sse: Sse<Fact>;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly streams: ConversationStreams,
    private readonly request: ConversationRequest,
    /** Everything up to here is told. */
    private told: number,
  ) {
    const { takeOver, signal, isStillGood } = request;
    const position = () => (this.unsubscribe ? Math.max(this.told, streams.changes.position ?? 0) : this.told);
    const render = (fact: Fact) => this.render(fact);
    this.sse = new Sse({ response: takeOver(), signal, isStillGood, position, render, report: streams.report });
  }

  async ended(): Promise<void> {
    this.goLive();
    if (!this.unsubscribe) await this.streams.catchUps.run(() => this.catchUp()).catch(this.failed);
    if (!this.sse.closed.aborted)
      await new Promise((resolve) => this.sse.closed.addEventListener('abort', resolve, { once: true }));
    this.unsubscribe?.();
  }

  private readonly failed = (error: unknown): void => {
    this.streams.report(error, 'conversation stream');
    this.sse.cut();
  };

  /** Where the past has been told as far as the live end: the two meet here, without a pause between looking and listening. */
  private goLive(): boolean {
    const { changes } = this.streams;
    if (this.told < (changes.position ?? Number.POSITIVE_INFINITY)) return false;
    const { caller, conversationId } = this.request;
    const floor = this.told;
    const hear = (fact: Fact) => (fact.seq > floor ? this.sse.push(fact) : undefined);
    this.unsubscribe = changes.subscribe(caller.tenant, conversationId, hear);
    return true;
  }

  private async catchUp(): Promise<void> {
    for await (const raw of this.streams.log.follow(this.told, this.sse.closed)) {
      const fact = this.isOfConversation(raw) ? decodeFact<HoldpointEvent>(raw) : undefined;
      if (fact?.correlationId === this.request.conversationId) await this.sse.send(fact);
      this.told = raw.seq;
      if (this.goLive()) return;
    }
  }

  /** Without decoding: most of what is read is about other conversations. */
  private isOfConversation({ subject, data }: RawFact): boolean {
    const { caller, conversationId } = this.request;
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    return placeOf(subject).tenant === caller.tenant && bytes.includes(conversationId);
  }

  private async render(fact: Fact): Promise<string> {
    const turn = await this.streams.turns.of(fact);
    if (!turn || !maySee(this.request.caller, turn)) return '';
    const messages = messagesOf(fact, turn);
    return sseMessages(maySeeContents(this.request.caller, turn) ? messages : messages.map(withoutContents), fact.seq);
  }
}

const isOfAgent = (caller: Caller, { agentId, pool }: ToldTurn): boolean =>
  hasRole(caller, 'agent') && speaksForAgent(caller, agentId) && mayUsePool(caller, pool);

/** As everywhere: an agent sees its own agent's turns, the others their tenant; operators see all but arguments. */
const maySee = (caller: Caller, turn: ToldTurn): boolean =>
  hasRole(caller, 'approver', 'operator', 'auditor') || isOfAgent(caller, turn);
const maySeeContents = (caller: Caller, turn: ToldTurn): boolean =>
  hasRole(caller, 'approver', 'auditor') || isOfAgent(caller, turn);
