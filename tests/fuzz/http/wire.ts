import type { Generated, Header } from './request.js';

/** What is written into the socket, piece by piece. */
export function wireOf({ method, target, headers, body, framing, times }: Generated, token: string): readonly Buffer[] {
  const authorization: readonly Header[] = token === '' ? [] : [['authorization', `Bearer ${token}`]];
  const one = (connection: string): readonly Buffer[] => {
    const framed = frame(body, framing);
    const all: readonly Header[] = [
      ['host', '127.0.0.1'],
      ['connection', connection],
      ...authorization,
      ...headers,
      ...framed.headers,
    ];
    const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return [Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1'), ...framed.pieces];
  };
  return Array.from({ length: times }, (_, index) => one(index === times - 1 ? 'close' : 'keep-alive')).flat();
}

interface Framed {
  readonly headers: readonly Header[];
  readonly pieces: readonly Buffer[];
}
const CHUNKED: Header = ['transfer-encoding', 'chunked'];
const length = (bytes: number): Header => ['content-length', String(bytes)];

function frame(body: Buffer, framing: Generated['framing']): Framed {
  switch (framing) {
    case 'length':
      return { headers: body.length > 0 ? [length(body.length)] : [], pieces: [body] };
    case 'bytewise':
      return {
        headers: [length(body.length)],
        pieces: [...[...body.subarray(0, 200)].map((byte) => Buffer.of(byte)), body.subarray(200)],
      };
    case 'chunked':
      return { headers: [CHUNKED], pieces: [...chunksOf(body), Buffer.from('0\r\n\r\n')] };
    case 'bad chunks':
      return { headers: [CHUNKED], pieces: [Buffer.from('zz\r\n'), body, Buffer.from('\r\n-1\r\n')] };
    case 'too short':
      return { headers: [length(body.length + 10)], pieces: [body] };
    case 'too long':
      return { headers: [length(Math.floor(body.length / 2))], pieces: [body] };
    case 'both':
      return { headers: [length(body.length), CHUNKED], pieces: [...chunksOf(body), Buffer.from('0\r\n\r\n')] };
  }
}

function chunksOf(body: Buffer): readonly Buffer[] {
  const half = Math.ceil(body.length / 2);
  const parts = [body.subarray(0, half), body.subarray(half)].filter(({ length: size }) => size > 0);
  return parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
}
