import fc from 'fast-check';
import { hostileText, plainJson, plainObject } from '../generate/hostile.js';
import { writing, type Writing } from '../generate/damage.js';
import { ValidValues, type Dictionary } from '../generate/valid.js';
import type { Described, Operation } from './operations.js';

export type Header = readonly [name: string, value: string];

/** How the body is cut into what goes over the wire. */
export const FRAMINGS = ['length', 'chunked', 'bytewise', 'too short', 'too long', 'bad chunks', 'both'] as const;
export type Framing = (typeof FRAMINGS)[number];

/** A request as it will be sent, but for the token, which is the sender's. */
export interface Generated {
  readonly operation: Operation;
  readonly method: string;
  readonly target: string;
  readonly who: string;
  readonly headers: readonly Header[];
  readonly body: Buffer;
  readonly framing: Framing;
  /** The same request that often, one behind the other, in one connection. */
  readonly times: number;
}

const weighted = <T>(usual: fc.Arbitrary<T>, weight: number, ...others: readonly fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight }, ...others.map((arbitrary) => ({ arbitrary, weight: 1 })));

/** A body can be wrong in more ways than an address. */
const BODY_WEIGHT = 3;

export class Requests {
  private readonly values: ValidValues;

  constructor(
    private readonly described: Described,
    private readonly dictionary: Dictionary,
    private readonly callers: readonly string[],
  ) {
    this.values = new ValidValues(described.schemas, dictionary, { json: plainJson, object: plainObject });
  }

  any(): fc.Arbitrary<Generated> {
    const all = this.described.operations.map((operation) => ({
      arbitrary: this.of(operation),
      weight: operation.body ? BODY_WEIGHT : 1,
    }));
    return fc.oneof(...all);
  }

  private of(operation: Operation): fc.Arbitrary<Generated> {
    const parts = {
      method: weighted(fc.constant(operation.method), 30, fc.constantFrom(...METHODS)),
      path: weighted(this.path(operation), 30, hostileTarget()),
      query: this.query(operation),
      who: weighted(fc.constant('admin'), 4, fc.constantFrom(...this.callers)),
      more: headers(),
      contentType: contentType(operation.body !== undefined),
      body: this.body(operation),
      framing: weighted<Framing>(fc.constant('length'), 12, fc.constantFrom(...FRAMINGS)),
      times: weighted(fc.constant(1), 20, fc.constantFrom(2, 5)),
    };
    return fc
      .record(parts, { noNullPrototype: true })
      .map(({ method, path, query, who, more, contentType, body, framing, times }) => ({
        operation,
        method,
        target: path + query,
        who,
        headers: [...contentType, ...more],
        body,
        framing,
        times,
      }));
  }

  private path({ path }: Operation): fc.Arbitrary<string> {
    const segments = path.split('/').map((segment) => {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      return name === undefined ? fc.constant(segment) : this.pathParameter(name);
    });
    return fc.tuple(...segments).map((all) => all.join('/'));
  }

  private pathParameter(name: string): fc.Arbitrary<string> {
    const known = this.dictionary[name] ?? fc.constantFrom('x');
    return weighted(known.map(String), 8, hostileText().map(encoded), fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/));
  }

  private query({ query }: Operation): fc.Arbitrary<string> {
    const pairs = query.map(({ name, schema, required }) => {
      const good = this.values.of(schema, name).map((value) => `${name}=${encoded(String(value))}`);
      const bad = hostileText().map((text) => `${name}=${encoded(text)}`);
      const none = fc.constant('');
      return required
        ? weighted(good, 12, bad, none)
        : fc.oneof({ arbitrary: none, weight: 3 }, { arbitrary: good, weight: 3 }, bad);
    });
    const odd = weighted(
      fc.constant(''),
      15,
      fc.constantFrom('a=1', '&&&', '__proto__=1', 'after=1&after=2', 'wait=-1', '%', '%zz=%'),
    );
    return fc
      .tuple(...pairs, odd)
      .map((all) => all.filter((one) => one !== ''))
      .map((all) => (all.length > 0 ? `?${all.join('&')}` : ''));
  }

  private body({ body, method }: Operation): fc.Arbitrary<Buffer> {
    const none = fc.constant(Buffer.alloc(0));
    if (!body)
      return weighted(
        none,
        method === 'GET' ? 30 : 6,
        fc.constantFrom('{}', '[]', '{"a":1}', '{').map((text) => Buffer.from(text)),
      );
    return fc.tuple(this.values.of(body), writing()).map(([value, write]: [unknown, Writing]) => write(value));
  }
}

/** As a client library would put a text into an address. */
function encoded(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) =>
      byte > 32 && byte < 127 && !'?#%&'.includes(String.fromCharCode(byte))
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).padStart(2, '0')}`,
    )
    .join('');
}

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'SEARCH',
  'PURGE',
  'get',
  'FOO',
  '',
] as const;

const hostileTarget = (): fc.Arbitrary<string> =>
  fc.constantFrom(
    '/',
    '*',
    '//',
    '/v1',
    '/v1/',
    '/v1//approvals',
    '/v1/../v1/me',
    '/V1/ME',
    '/v1/me/',
    '/v1/me;x=1',
    '/v1/me%00',
    '/v1/%6de',
    '/%',
    '/v1/approvals/%E0%A4%A',
    'http://elsewhere/v1/me',
    'v1/me',
    `/${'a'.repeat(20_000)}`,
    '/v1/me#x',
    '/v1/\u00e4',
  );

const contentType = (isUsual: boolean): fc.Arbitrary<readonly Header[]> => {
  const json: readonly Header[] = [['content-type', 'application/json']];
  const odd = [
    'text/plain',
    'application/json; charset=utf-16',
    'application/json; charset=',
    'application/json;',
    'APPLICATION/JSON',
    'multipart/form-data; boundary=x',
    'application/json, text/html',
    '',
    '\u00ff',
    'application/problem+json',
    'application/x-www-form-urlencoded',
  ];
  return weighted<readonly Header[]>(
    fc.constant(isUsual ? json : []),
    12,
    fc.constantFrom(...odd).map((type) => [['content-type', type]]),
    fc.constant([]),
    fc.constant(json),
  );
};

/** Names that mean something to the gateway, to its server or to a proxy before it. */
const NAMES = [
  'Idempotency-Key',
  'Holdpoint-Tenant',
  'Authorization',
  'Last-Event-ID',
  'traceparent',
  'Cookie',
  'Accept',
  'Host',
  'Expect',
  'Upgrade',
  'Connection',
  'Content-Encoding',
  'Content-Length',
  'Transfer-Encoding',
  'X-Forwarded-For',
  'X-HTTP-Method-Override',
  'Range',
  'If-None-Match',
  'Origin',
  'TE',
  'Trailer',
  '__proto__',
  'constructor',
] as const;
const VALUES = [
  '',
  'x',
  '0',
  '-1',
  '100-continue',
  'websocket',
  'gzip',
  'br, identity',
  'chunked',
  'chunked, chunked',
  'close, x',
  'default',
  '_sys',
  'other',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '00-xyz',
  'Bearer',
  'Bearer ',
  'Basic eDp4',
  `Bearer hp_tk_${'a'.repeat(26)}_${'b'.repeat(43)}`,
  'x'.repeat(300),
  'x'.repeat(20_000),
  '\u00e4\u00ff',
  'a\u0000b',
  'a\tb',
  '9007199254740993',
  '*',
] as const;

const headers = (): fc.Arbitrary<readonly Header[]> => {
  const key: fc.Arbitrary<Header> = fc.constantFrom('k-1', 'k-2', 'k-3').map((value) => ['Idempotency-Key', value]);
  const odd: fc.Arbitrary<Header> = fc.tuple(
    fc.constantFrom(...NAMES),
    fc.oneof(fc.constantFrom(...VALUES), fc.string({ unit: 'binary-ascii', maxLength: 30 })),
  );
  const flood = fc
    .constantFrom(100, 2_500)
    .map((count): readonly Header[] => Array.from({ length: count }, (_, n) => [`x-${n}`, 'y']));
  return fc.oneof(
    { arbitrary: fc.constant<readonly Header[]>([]), weight: 12 },
    { arbitrary: key.map((one) => [one]), weight: 3 },
    { arbitrary: fc.array(odd, { minLength: 1, maxLength: 3 }), weight: 5 },
    { arbitrary: flood, weight: 1 },
  );
};
