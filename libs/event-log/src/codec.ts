import { canonicalJson } from '#contracts/canonical';
import { Envelope, type Fact, type Recorded } from '#contracts/envelope';
import { EVENT_SHAPES, isEventType, type Written } from '#contracts/events';
import { parse, type FieldError } from '#contracts/parse';
import { continuationSubject, subjectOf, tenantOf } from '#contracts/subjects';
import { UnreadableFact, type RawFact } from './log.js';
import { mapSealed, PLAIN, type FieldCodec } from './sealing.js';

const TYPE_PREFIX = 'holdpoint.';
const VERSION = '.v1';
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const BYTES = new TextEncoder();

export interface Encoded {
  readonly headers: Readonly<Record<string, string>>;
  readonly data: Uint8Array;
}

/** CloudEvents 1.0 in headers, the body in RFC 8785 canonical form (design 3.1). The headers are a closed list. */
export function encodeFact(fact: Fact<Written>, source: string, codec: FieldCodec = PLAIN): Encoded {
  const { event, eventId, occurredAt, correlationId, causationId, commandDigest, actor, subject, traceparent } = fact;
  const data = mapSealed(EVENT_SHAPES[event.type], event.data, (value) => codec.seal(value));
  const digest = commandDigest === undefined ? {} : { commandDigest };
  const body = { eventId, occurredAt, correlationId, causationId, ...digest, actor, data };
  const headers = {
    'ce-specversion': '1.0',
    'ce-id': eventId,
    'ce-type': `${TYPE_PREFIX}${event.type}${VERSION}`,
    'ce-source': `/holdpoint/${source}`,
    'ce-time': occurredAt,
    'ce-subject': subject,
    'content-type': 'application/json',
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  return { headers, data: BYTES.encode(canonicalJson(body)) };
}

/** Throws `UnreadableFact` for an unknown type or version, a damaged body, or a body that belongs under another subject. */
export function decodeFact<Event extends Written>(raw: RawFact, codec: FieldCodec = PLAIN): Recorded<Event> {
  const type = eventTypeOf(raw);
  const { data, ...envelope } = bodyOf(raw);
  const shape: new () => object = EVENT_SHAPES[type];
  const opened =
    typeof data === 'object' && data !== null ? mapSealed(shape, data, (value) => codec.open(value)) : data;
  const event = { type, data: valid(raw, parse(shape, opened)) } as Event;
  const tenant = tenantOf(raw.subject);
  const fact: Fact<Event> = {
    ...valid(raw, parse(Envelope, envelope)),
    ...traceOf(raw),
    tenant,
    subject: raw.subject,
    event,
  };
  if (raw.subject !== rightSubject(fact)) throw unreadable(raw, 'its body belongs under another subject');
  return { ...fact, seq: raw.seq, storedAt: raw.storedAt };
}

function eventTypeOf(raw: RawFact): Written['type'] {
  const header = raw.headers['ce-type'] ?? '';
  const name =
    header.startsWith(TYPE_PREFIX) && header.endsWith(VERSION) ? header.slice(TYPE_PREFIX.length, -VERSION.length) : '';
  if (!isEventType(name))
    throw unreadable(raw, `its type or version, "${header}", is not known to this version of Holdpoint`);
  return name;
}

function bodyOf(raw: RawFact): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(UTF8.decode(raw.data));
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  } catch (error) {
    throw unreadable(raw, error instanceof Error ? error.message : String(error));
  }
  throw unreadable(raw, 'its body is not an object');
}

function valid<T>(raw: RawFact, parsed: { ok: true; value: T } | { ok: false; errors: readonly FieldError[] }): T {
  if (parsed.ok) return parsed.value;
  throw unreadable(raw, parsed.errors.map(({ path, message }) => `${path} ${message}`).join('; '));
}

function rightSubject({ tenant, event }: Fact<Written>): string {
  return event.type === 'ContinueConversation' ? continuationSubject(tenant, event.data) : subjectOf(tenant, event);
}

const traceOf = ({ headers }: RawFact) =>
  headers['traceparent'] === undefined ? {} : { traceparent: headers['traceparent'] };
const unreadable = (raw: RawFact, why: string) => new UnreadableFact(raw.seq, raw.subject, why);
