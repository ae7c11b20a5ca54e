import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootstrap } from '#event-log/bootstrap';
import { connectBroker, type Broker } from '#service/broker';
import { Callers } from '#service/callers';
import { createLogger } from '#service/logger';
import type { OpenDoor } from './http/open-door.js';
import { startGateway } from './start-gateway.js';

const env = (name: string): string => process.env[`HOLDPOINT_TEST_${name}`] ?? '';
const ADMIN = 'hp_admin_for_tests_only';
const NOBODY = 'postgres://nobody@127.0.0.1:1/nothing';
const RATE = 50;
const nats = { natsUrl: env('NATS_URL'), natsCredsDir: env('NATS_CREDS_DIR'), natsCa: undefined };
const local = { host: '127.0.0.1', port: 0, metricsPort: 0, dataDir: '' };

/** The gateway with its log, while the services that decide and Postgres are away: the door itself must not depend on them. */
let broker: Broker;
let door: OpenDoor;
const stop = new AbortController();

beforeAll(async () => {
  await bootstrap({ url: nats.natsUrl, seedFile: join(nats.natsCredsDir, 'bootstrap.nk'), replicas: 1 });
  broker = await connectBroker(nats, 'gateway');
  const settings = {
    ...nats,
    ...local,
    databaseUrl: NOBODY,
    adminToken: ADMIN,
    logLevel: 'silent',
    leaseSeconds: 60,
    rateLimit: RATE,
  };
  const callers = new Callers(broker.events, ADMIN);
  door = await startGateway({
    broker,
    settings,
    callers,
    logger: createLogger(settings, 'test'),
    stopping: stop.signal,
  });
});
afterAll(async () => {
  stop.abort();
  await door.close();
  await broker.close();
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** Every answer is checked for what every answer must have. */
async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  await sleep(1_000 / RATE);
  const headers = { authorization: `Bearer ${ADMIN}`, ...(init.headers as Record<string, string> | undefined) };
  const answer = await fetch(door.url + path, { ...init, headers });
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  const text = await answer.text();
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  if (answer.status >= 400) expectProblem(answer, body);
  return { status: answer.status, headers: answer.headers, body };
}

function expectProblem(answer: Response, body: Record<string, unknown>): void {
  expect(answer.headers.get('content-type')).toContain('application/problem+json');
  expect(body).toMatchObject({ status: answer.status, detail: expect.any(String), title: expect.any(String) });
  expect(body['type']).toMatch(/^urn:holdpoint:problem:[a-z-]+$/);
}

const json = { 'content-type': 'application/json' };
const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = json) =>
  ask(path, { method: 'POST', body, headers });
const problem = (name: string) => expect.objectContaining({ type: `urn:holdpoint:problem:${name}` });
const TURN = JSON.stringify({
  conversationId: 'c',
  agent: { id: 'a' },
  toolCalls: [{ toolCallId: '1', toolName: 't', args: {} }],
});
const UNKNOWN = `ap_${'a'.repeat(26)}_0`;

describe('who comes in', () => {
  it.each([
    { authorization: '' },
    { authorization: 'Bearer nobody' },
    { authorization: `Bearer hp_tk_${'a'.repeat(26)}_${'b'.repeat(40)}` },
  ])('is told to bring a good token: %j', async (headers) => {
    const answer = await ask('/v1/me', { headers });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });
  it('has nothing read of what it sends before it is known', async () => {
    const answer = await post('/v1/turns', '{"a":', { ...json, authorization: '' });
    expect(answer.status).toBe(401);
  });
  it('may choose a tenant with the admin token', async () => {
    expect((await ask('/v1/me', { headers: { 'holdpoint-tenant': 'acme' } })).body).toMatchObject({
      tenant: 'acme',
      roles: ['admin'],
    });
    expect((await ask('/v1/me', { headers: { 'holdpoint-tenant': '_sys' } })).status).toBe(400);
  });
});

describe('an address', () => {
  it.each(['/', '/v1', '/v1/grants/x/use', '/v1/audit/verify', '/v1/exports', '/v1/me/', '/V1/me', '/v1//me'])(
    '%s has nothing at it',
    async (path) => expect((await ask(path)).status).toBe(404),
  );
  it.each([
    ['a broken escape', '%zz'],
    ['bytes that are no text', '%ff'],
    ['a NUL', 'a%00b'],
    ['a dot', 'a.b'],
    ['one character too many', 'a'.repeat(129)],
    ['far too many', 'a'.repeat(2_000)],
  ])('is malformed where an id has %s', async (_, id) => expect((await ask(`/v1/approvals/${id}`)).status).toBe(400));
  it.each([
    '/v1/approvals/x',
    `/v1/approvals/${UNKNOWN}`,
    '/v1/turns/t?conversationId=c',
    '/v1/turns/t?conversationId=c&wait=30',
  ])('%s is well-formed but of nothing', async (path) =>
    expect(await ask(path)).toMatchObject({ status: 404, body: problem('not-found') }),
  );
  it.each([
    '/v1/me?x=1',
    '/v1/turns/t',
    '/v1/turns/t?conversationId=c&wait=61',
    '/v1/approvals?limit=0',
    '/v1/approvals?status=x',
    '/v1/turns',
    '/v1/events?after=-1',
  ])('%s asks for what cannot be asked', async (path) =>
    expect(await ask(path)).toMatchObject({ status: 400, body: problem('invalid-input') }),
  );
  it('says which methods it takes', async () => {
    const put = await ask('/v1/turns', { method: 'PUT' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST, GET, HEAD, OPTIONS']);
    expect((await ask('/v1/turns', { method: 'OPTIONS' })).status).toBe(204);
    expect((await ask('/v1/me', { method: 'HEAD' })).status).toBe(200);
    expect((await ask('/v1/stream', { method: 'HEAD' })).status).toBe(200);
  });
});

describe('a body', () => {
  it.each([
    '',
    '[]',
    'null',
    '1',
    '{"a":1,',
    '{}',
    '\ufeff{}',
    TURN.replace('"c"', '"c","conversationId":"d"'),
    TURN.replace('{}', '{"n":9007199254740993}'),
  ])('that is not what is wanted is refused: %j', async (body) =>
    expect(await post('/v1/turns', body)).toMatchObject({ status: 400, body: problem('invalid-input') }),
  );
  it('names the place of what would be rounded', async () =>
    expect((await post('/v1/turns', TURN.replace('{}', '{"n":[1,1e400]}'))).body).toMatchObject({
      errors: [{ path: 'toolCalls[0].args.n[1]' }],
    }));
  it('must be UTF-8', async () =>
    expect((await post('/v1/turns', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]))).status).toBe(400));
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'x',
  ])('must be JSON, not %s', async (type) =>
    expect((await post('/v1/turns', TURN, { 'content-type': type })).status).toBe(415),
  );
  it('must not be compressed', async () =>
    expect((await post('/v1/turns', TURN, { ...json, 'content-encoding': 'gzip' })).status).toBe(415));
  it('is at most 1 MiB', async () =>
    expect(await post('/v1/turns', ' '.repeat(1_048_577))).toMatchObject({ status: 413, body: problem('too-large') }));
  it('is at most 64 levels deep', async () =>
    expect((await post('/v1/turns', '['.repeat(400_000))).body).toMatchObject({ errors: [{ path: '' }] }));
});

describe('without the services that decide', () => {
  it('nobody is told that nothing was recorded', async () =>
    expect(await post('/v1/turns', TURN)).toMatchObject({ status: 503, body: { recorded: 'unknown' } }));
  it('many decisions are answered one by one', async () => {
    const items = [
      { approvalId: 'no id', decision: 'approve' },
      { approvalId: UNKNOWN, decision: 'deny' },
    ];
    expect(await post('/v1/decisions', JSON.stringify({ items }))).toMatchObject({
      status: 200,
      body: {
        items: [
          { approvalId: 'no id', verdict: 'refused', problem: problem('not-found') },
          { approvalId: UNKNOWN, verdict: 'refused', problem: problem('unavailable') },
        ],
      },
    });
  });
  it('it is alive and not ready, and says why', async () => {
    expect((await ask('/healthz')).status).toBe(200);
    const { status, body } = await ask('/readyz');
    expect([status, body['detail']]).toEqual([503, expect.stringContaining('orchestrator does not answer')]);
  });
});

describe('without Postgres', () => {
  it.each(['/v1/approvals', '/v1/tokens', '/v1/stats', '/v1/parked'])('%s answers 503', async (path) =>
    expect(await ask(path)).toMatchObject({ status: 503, body: problem('unavailable') }),
  );
  it('the log is read', async () => {
    const { status, body } = await ask('/v1/events', { headers: { 'holdpoint-tenant': 'nobody-yet' } });
    expect([status, body]).toEqual([200, { items: [], nextCursor: null }]);
  });
});

describe('what is no HTTP at all', () => {
  const send = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(door.url);
      let answer = '';
      const socket = connect(Number(port), hostname, () => socket.write(text));
      socket.on('data', (data) => (answer += String(data)));
      socket.on('end', () => resolve(answer));
      socket.on('error', reject);
    });

  it('is answered with a problem document', async () => {
    expect(await send('GARBAGE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [^]*urn:holdpoint:problem:invalid-input/);
    expect(await send(`GET /v1/me HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
  });
});

describe('an expectation that is not known', () => {
  it('is no reason not to answer as always', async () => {
    const { port, hostname } = new URL(door.url);
    const answer = await new Promise<Record<string, unknown>>((resolve, reject) => {
      const asked = request({ hostname, port, path: '/healthz', headers: { expect: 'the-unexpected' } }, (response) => {
        response.resume();
        resolve({ status: response.statusCode, sniff: response.headers['x-content-type-options'] });
      });
      asked.once('error', reject).end();
    });
    expect(answer).toEqual({ status: 200, sniff: 'nosniff' });
  });
});

describe('the door', () => {
  it('lets no token in more often than it may', async () => {
    const answers = await Promise.all(
      Array.from({ length: 3 * RATE }, () =>
        fetch(`${door.url}/v1/me`, { headers: { authorization: `Bearer ${ADMIN}` } }),
      ),
    );
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(RATE / 2);
    expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    await sleep(1_100);
  });

  it('describes itself to whoever asks', async () =>
    expect((await ask('/v1/openapi.json', { headers: { authorization: '' } })).body).toMatchObject({
      openapi: '3.1.0',
    }));

  it('ends streams and waiting requests when it is to close', async () => {
    const streaming = new Promise<void>((resolve) => {
      const headers = { authorization: `Bearer ${ADMIN}` };
      request(`${door.url}/v1/conversations/c/events`, { headers }, (answer) =>
        answer.resume().on('end', resolve),
      ).end();
    });
    await sleep(300);
    stop.abort();
    await streaming;
  });
});
