import { Readable } from 'node:stream';

/** A JSON object a line, each made when the client has taken those before it; whoever goes away ends the making. */
export const ndjson = (lines: AsyncIterable<object>): Readable => Readable.from(textOf(lines));

async function* textOf(lines: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}
