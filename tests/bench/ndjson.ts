import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';

/** The answer as it comes; nothing of it is read yet. */
export async function openStream(url: string, headers: Record<string, string>, body: object): Promise<IncomingMessage> {
  const sent = request(url, {
    method: 'POST',
    agent: false,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  sent.end(JSON.stringify(body));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  if (answer.statusCode === 200) return answer;
  throw new Error(`${answer.statusCode}: ${(await answer.toArray()).join('')}`);
}

/** A JSON object a line; nothing is read ahead of whoever takes them. */
export async function* linesOf(answer: IncomingMessage): AsyncGenerator<Record<string, unknown>> {
  let begun = '';
  for await (const part of answer.setEncoding('utf8')) {
    const lines = (begun + String(part)).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Record<string, unknown>;
  }
}
