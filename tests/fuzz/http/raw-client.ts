import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** It came whole; else only its head can be judged. */
  readonly isWhole: boolean;
}

export interface Exchange {
  readonly answers: readonly RawAnswer[];
  /** Why there is nothing more to read. */
  readonly end: 'closed' | 'reset' | 'left';
}

export interface RawRequest {
  readonly port: number;
  readonly pieces: readonly Buffer[];
  /** Says that nothing more comes once all is sent. */
  readonly halfClose: boolean;
  /** Leaves after that long without a first byte. */
  readonly patienceMs: number;
  /** An answer to HEAD has a length and no body. */
  readonly isHead: boolean;
}

/** After the first byte: who keeps a connection open and says nothing more is left. */
const QUIET_MS = 60;

/** Sends bytes as they are, without a client's manners, and reads whatever comes back until the end. */
export function exchange({ port, pieces, halfClose, patienceMs, isHead }: RawRequest): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    const finish = (end: Exchange['end']) => {
      clearTimeout(patience);
      socket.destroy();
      resolve({ answers: readAnswers(Buffer.concat(chunks), isHead), end });
    };
    let patience = setTimeout(() => finish('left'), patienceMs);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      clearTimeout(patience);
      patience = setTimeout(() => finish('left'), QUIET_MS);
    });
    socket.on('end', () => finish('closed'));
    socket.on('error', () => finish('reset'));
    for (const piece of pieces) socket.write(piece);
    if (halfClose) socket.end();
  });
}

/** All complete answers in the bytes, and the last one as far as it goes. */
export function readAnswers(bytes: Buffer, isHead: boolean): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let at = 0; at < bytes.length;) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    if (headEnd < 0) break;
    const [statusLine = '', ...lines] = bytes.subarray(at, headEnd).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? Number.NaN);
    const headers = Object.fromEntries(lines.map(headerOf));
    const bodyless = isHead || status < 200 || status === 204 || status === 304;
    const { body, next } = bodyless ? { body: '', next: headEnd + 4 } : readBody(bytes, headEnd + 4, headers);
    answers.push({ status, headers, body, isWhole: next <= bytes.length });
    at = next;
  }
  return answers;
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function readBody(
  bytes: Buffer,
  start: number,
  headers: Readonly<Record<string, string>>,
): { body: string; next: number } {
  if (headers['transfer-encoding'] === 'chunked') return readChunks(bytes, start);
  const length = headers['content-length'];
  const next = start + (length === undefined ? bytes.length : Number(length));
  return { body: bytes.subarray(start, next).toString('utf8'), next };
}

function readChunks(bytes: Buffer, start: number): { body: string; next: number } {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (Number.isNaN(size)) return { body: Buffer.concat(parts).toString('utf8'), next: bytes.length + 1 };
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
    if (size === 0) return { body: Buffer.concat(parts).toString('utf8'), next: at };
  }
}
