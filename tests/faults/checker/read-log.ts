import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectAs } from '../../support/connect-as.js';
import { eventually } from '../../support/world.js';

/** One message as the broker has it, and its body as plain JSON: nothing of the product's own reading is used. */
export interface Message {
  readonly seq: number;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: Buffer;
  /** With all the digits that the broker gave. */
  readonly time: string;
  readonly type: string;
  readonly body: any;
}

export interface StreamRead {
  readonly messages: readonly Message[];
  /** What the checker found wrong with the stream itself. */
  readonly wrong: readonly string[];
}

const AT_ONCE = 64;
const REST_MS = 1_500;

export interface LogPlace {
  readonly natsUrl: string;
  readonly credsDir: string;
}
type StreamName = 'EVENTS' | 'COMMANDS';

/** Every message of a stream from its first, one by one, from its leader. */
export async function readStream({ natsUrl, credsDir }: LogPlace, stream: StreamName): Promise<StreamRead> {
  const connection = await connectAs({ url: natsUrl, identity: 'operator', credsDir });
  try {
    const state = await atRest(connection, stream);
    const wrong = stateWrong(stream, state);
    const messages: Message[] = [];
    for (let from = 1; from <= state.last_seq; from += AT_ONCE) {
      const seqs = Array.from({ length: Math.min(AT_ONCE, state.last_seq - from + 1) }, (_, n) => from + n);
      const answers = await Promise.all(seqs.map((seq) => ask(connection, `STREAM.MSG.GET.${stream}`, { seq })));
      messages.push(...answers.flatMap(({ message }) => (message ? [parsed(message)] : [])));
      wrong.push(
        ...answers.flatMap(({ message }, at) => (message ? [] : [`${stream} does not have message ${seqs[at]}`])),
      );
    }
    return { messages, wrong };
  } finally {
    await connection.close();
  }
}

export async function lastOf({ natsUrl, credsDir }: LogPlace, stream: StreamName): Promise<number> {
  const connection = await connectAs({ url: natsUrl, identity: 'operator', credsDir });
  try {
    return Number((await ask(connection, `STREAM.INFO.${stream}`, {})).state.last_seq);
  } finally {
    await connection.close();
  }
}

/** A service may still finish what nobody waits for any more. */
async function atRest(connection: NatsConnection, stream: string): Promise<any> {
  for (let last = -1; ;) {
    const { state } = await ask(connection, `STREAM.INFO.${stream}`, {});
    if (state.last_seq === last) return state;
    last = state.last_seq;
    await sleep(REST_MS);
  }
}

function ask(connection: NatsConnection, call: string, body: object): Promise<any> {
  return eventually(async () => {
    const answer = await connection.request(`$JS.API.${call}`, JSON.stringify(body), { timeout: 5_000 });
    const told = answer.json<any>();
    // Only that a message is not there is an answer; a log without a leader has none.
    if (told.error && told.error.code !== 404) throw new Error(`${call}: ${JSON.stringify(told.error)}`);
    return told;
  }, 60_000);
}

function stateWrong(stream: string, state: any): string[] {
  const { messages, first_seq, last_seq, num_deleted = 0 } = state;
  if (messages === 0) return [];
  return first_seq === 1 && messages === last_seq && num_deleted === 0
    ? []
    : [`${stream} is not gapless: ${JSON.stringify({ messages, first_seq, last_seq, num_deleted })}`];
}

function parsed({ seq, subject, hdrs = '', data = '', time }: any): Message {
  const bytes = Buffer.from(data, 'base64');
  const headers = headersOf(Buffer.from(hdrs, 'base64').toString('utf8'));
  const type = /^holdpoint\.(\w+)\.v1$/.exec(headers['ce-type'] ?? '')?.[1] ?? '';
  return { seq, subject, headers, data: bytes, time, type, body: bodyOf(bytes) };
}

function headersOf(text: string): Record<string, string> {
  const lines = text.split('\r\n').slice(1);
  return Object.fromEntries(
    lines.flatMap((line) => {
      const at = line.indexOf(':');
      return at < 0 ? [] : [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()]];
    }),
  );
}

function bodyOf(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
