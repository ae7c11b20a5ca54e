import type { Broker } from '#service/broker';
import type { RawAnswer } from './raw-client.js';

/** What an answer may never carry: the inside of the program. */
const INSIDE =
  /node_modules|\bat [A-Za-z.<>]+ \(|file:\/\/|TypeError|RangeError|SyntaxError|Cannot read prop|is not a function/;

/** What is wrong with an answer, whatever was asked; nothing where all is well. */
export function wrongWithAnswer(
  { status, headers, body, isWhole }: RawAnswer,
  problemTypes: readonly string[],
): string | undefined {
  if (!Number.isInteger(status)) return 'It is no HTTP answer';
  if (status === 100) return undefined;
  if (status >= 300 && status < 400) return `It sends elsewhere with ${status}`;
  if (status >= 500 && status !== 503) return `It is a ${status}: ${body}`;
  if (headers['x-content-type-options'] !== 'nosniff') return 'It may be sniffed';
  if (INSIDE.test(status >= 400 ? body : '')) return `It shows the inside: ${body}`;
  if (!isWhole || body === '') return undefined;
  return status >= 400 ? wrongWithProblem(status, headers, body, problemTypes) : wrongWithSuccess(headers, body);
}

function wrongWithProblem(
  status: number,
  headers: RawAnswer['headers'],
  body: string,
  problemTypes: readonly string[],
): string | undefined {
  if (!headers['content-type']?.startsWith('application/problem+json'))
    return `A ${status} is ${headers['content-type']}: ${body}`;
  const problem = JSON.parse(body) as Readonly<Record<string, unknown>>;
  if (!problemTypes.includes(String(problem['type']))) return `No such problem: ${body}`;
  if (problem['status'] !== status) return `A ${status} says ${String(problem['status'])}`;
  if (typeof problem['title'] !== 'string' || typeof problem['detail'] !== 'string')
    return `It does not say what is wrong: ${body}`;
  return undefined;
}

function wrongWithSuccess(headers: RawAnswer['headers'], body: string): string | undefined {
  if (headers['content-type']?.startsWith('text/event-stream')) return undefined;
  if (headers['content-type']?.startsWith('application/x-ndjson')) return wrongWithLines(body);
  if (!headers['content-type']?.startsWith('application/json')) return `A success is ${headers['content-type']}`;
  JSON.parse(body);
  return undefined;
}

function wrongWithLines(body: string): undefined {
  for (const line of body.split('\n')) if (line !== '') JSON.parse(line);
}

/** A try that came to nothing is itself told, the first of its kind by a person. */
const TOLD_ALTHOUGH_REFUSED = new Set(['DecisionRefused']);

/** What the log has of requests, as its end was before and is now; what services did of themselves is not counted. */
export async function writtenByRequests(broker: Broker, after: number): Promise<readonly string[]> {
  const { lastSeq } = await broker.events.state();
  const types: string[] = [];
  for (let seq = after + 1; seq <= lastSeq;) {
    const fact = await broker.events.next('hp.v1.>', seq);
    if (!fact) break;
    if (fact.actor.via.startsWith('token:') && !TOLD_ALTHOUGH_REFUSED.has(fact.event.type))
      types.push(`${fact.event.type} (${fact.seq})`);
    seq = fact.seq + 1;
  }
  return types;
}
