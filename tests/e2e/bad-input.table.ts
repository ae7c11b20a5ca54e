/** One bad request: everything about it that is not as a good one would be. */
export interface BadRow {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  /** As text where JSON.stringify could not say it. */
  readonly body?: unknown;
  readonly text?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly by?: 'agent' | 'approver' | 'operator' | 'admin' | 'nobody' | 'forger';
  readonly status: number;
  readonly problem: string;
  /** Of one of the errors. */
  readonly at?: string;
}

const call = { toolCallId: 'c1', toolName: 'send_email', args: { to: 'x' } };
export const turn = { conversationId: 'bad', turnId: 't-1', agent: { id: 'a' }, toolCalls: [call] };
export const AP = `ap_${'a'.repeat(26)}_0`;
export const TN = `tn_${'a'.repeat(26)}`;
export const DIGEST = `sha256:${'0'.repeat(64)}`;
export const invalid = { status: 400, problem: 'invalid-input' } as const;
const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
const show = (value: unknown): string =>
  typeof value === 'string' && value.length > 24
    ? `${value.slice(0, 12)}… (${value.length})`
    : (JSON.stringify(value) ?? 'missing');

/** Values that an id may not have; in JSON strings. */
const BAD_IDS: readonly unknown[] = [
  '',
  'a.b',
  'a*',
  'a>',
  'a b',
  ' a',
  'ä',
  'a/b',
  'x'.repeat(129),
  '\u202ea',
  'a\u0000',
  '😀',
  null,
  7,
  true,
  [],
  {},
  ['a'],
];
const BAD_NAMES: readonly unknown[] = [
  '',
  ' a',
  'a ',
  'a\u0000b',
  'a\u202eb',
  'a\u200bb',
  'a\nb',
  'x'.repeat(201),
  null,
  7,
  {},
  [],
];
const NO_OBJECTS: readonly unknown[] = [null, 'x', 7, true, [], [1]];
const NO_BOOLEANS: readonly unknown[] = [null, 'true', 1, {}, []];
const NO_COUNTS: readonly unknown[] = [null, '1', 0, -1, 1.5, 1e15, true, {}, []];

const openWith = (name: string, change: Record<string, unknown>, at: string): BadRow => ({
  name: `open a turn: ${name}`,
  path: '/v1/turns',
  body: { ...turn, ...change },
  ...invalid,
  at,
});
const field = (name: string, values: readonly unknown[]): BadRow[] =>
  values.map((value) => openWith(`${name} ${show(value)}`, { [name]: value }, name));
const callField = (name: string, values: readonly unknown[]): BadRow[] =>
  values.map((value) =>
    openWith(`a call's ${name} ${show(value)}`, { toolCalls: [{ ...call, [name]: value }] }, `toolCalls[0].${name}`),
  );
const without = (name: string): BadRow => openWith(`without ${name}`, { [name]: undefined }, name);

const OPENING: readonly BadRow[] = [
  ...['conversationId', 'agent', 'toolCalls'].map(without),
  ...field('conversationId', BAD_IDS),
  ...field('turnId', BAD_IDS),
  ...field('pool', BAD_IDS.slice(0, 8)),
  ...field('supersedes', BAD_IDS.slice(0, 6)),
  ...field('release', ['', 'some', 'ALL', null, 1]),
  ...field('agent', NO_OBJECTS.slice(0, 4)),
  ...field('context', NO_OBJECTS),
  ...field('expiresInSeconds', [null, '60', 0, -1, 0.5, {}]),
  ...BAD_NAMES.map((id) => openWith(`agent.id ${show(id)}`, { agent: { id } }, 'agent.id')),
  openWith('an agent without id', { agent: {} }, 'agent.id'),
  openWith('agent.path of numbers', { agent: { id: 'a', path: [1] } }, 'agent.path'),
  openWith('agent with a field more', { agent: { id: 'a', isAdmin: true } }, 'agent.isAdmin'),
  openWith('a field more', { approved: true }, 'approved'),
  openWith('who and when in the body', { actor: { id: 'eve' }, occurredAt: '2020-01-01T00:00:00.000Z' }, 'actor'),
  openWith('no call', { toolCalls: [] }, 'toolCalls'),
  openWith(
    '65 calls',
    { toolCalls: Array.from({ length: 65 }, (_, n) => ({ ...call, toolCallId: `c${n}` })) },
    'toolCalls',
  ),
  openWith('calls as an object', { toolCalls: { 0: call } }, 'toolCalls'),
  openWith('a call that is null', { toolCalls: [null] }, 'toolCalls'),
  openWith('a call that is text', { toolCalls: ['send_email'] }, 'toolCalls'),
  openWith('one toolCallId twice', { toolCalls: [call, { ...call, toolName: 'other' }] }, 'toolCalls[1].toolCallId'),
  ...callField('toolCallId', [undefined, '', null, 7, 'x'.repeat(129), 'a\u0000']),
  ...callField('toolName', [undefined, ...BAD_NAMES]),
  ...callField('args', [undefined, ...NO_OBJECTS]),
  ...callField('server', ['', null, 7, 'a\u202e']),
  ...callField('inputSchema', [
    null,
    'object',
    [],
    { type: 'no-such-type' },
    { $ref: 'https://example.com/schema.json' },
    { pattern: '(', type: 'string' },
  ]),
  ...callField('annotations', [null, 'x', []]),
  ...callField('approved', [true]),
  openWith('a holder without worker', { holder: { graceSeconds: 1 } }, 'holder.workerId'),
  openWith('a holder with grace 61', { holder: { workerId: 'w', graceSeconds: 61 } }, 'holder.graceSeconds'),
  openWith('a holder with grace -1', { holder: { workerId: 'w', graceSeconds: -1 } }, 'holder.graceSeconds'),
  openWith('a turn that supersedes itself', { supersedes: 't-1' }, 'supersedes'),
  openWith('a turn that supersedes an unknown one', { supersedes: 'nobody' }, 'supersedes'),
];

const raw = (name: string, text: string | Uint8Array, at?: string): BadRow => ({
  name: `the body is ${name}`,
  path: '/v1/turns',
  text,
  ...invalid,
  ...(at === undefined ? {} : { at }),
});
const withArgs = (args: string): string =>
  `{"conversationId":"bad","turnId":"t-1","agent":{"id":"a"},"toolCalls":[{"toolCallId":"c","toolName":"t","args":${args}}]}`;
const ARGS = 'toolCalls[0].args';

const TEXTS: readonly BadRow[] = [
  raw('empty', ''),
  raw('no JSON', '{"conversationId":'),
  raw('JSON with a comment', `{/* hi */"conversationId":"x"}`),
  raw('JSON with a trailing comma', '{"conversationId":"x",}'),
  raw('an array', '[]'),
  raw('a text', '"turn"'),
  raw('null', 'null'),
  raw('a number', '7'),
  raw('NaN', withArgs('{"n":NaN}')),
  raw('not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
  raw('with a key twice', '{"conversationId":"a","conversationId":"b"}', 'conversationId'),
  raw('with an argument twice', withArgs('{"to":"a","to":"b"}'), `${ARGS}.to`),
  raw('with an argument twice, spelled differently', withArgs('{"to":"a","\\u0074o":"b"}'), `${ARGS}.to`),
  raw('with 2^53 + 1', withArgs('{"n":9007199254740993}'), `${ARGS}.n`),
  raw('with -2^53 - 1', withArgs('{"n":-9007199254740993}'), `${ARGS}.n`),
  raw('with 1e400', withArgs('{"n":1e400}'), `${ARGS}.n`),
  raw('with a decimal that no double is', withArgs('{"n":0.12345678901234567890}'), `${ARGS}.n`),
  raw('with -0', withArgs('{"n":-0}'), `${ARGS}.n`),
  raw('with a lone high surrogate', withArgs('{"s":"\\ud800"}'), `${ARGS}.s`),
  raw('with a lone low surrogate', withArgs('{"s":"x\\udc00"}'), `${ARGS}.s`),
  raw('with a lone surrogate as a key', withArgs('{"\\ud800":1}')),
  raw('with __proto__ at the top', '{"__proto__":{"isAdmin":true},"conversationId":"a"}'),
  raw('with __proto__ in the arguments', withArgs('{"__proto__":{"x":1}}')),
  raw('with __proto__ escaped', withArgs('{"\\u005f_proto__":{"x":1}}')),
  raw('with constructor.prototype in the arguments', withArgs('{"constructor":{"prototype":{"x":1}}}')),
  raw('with constructor at the top', '{"constructor":1,"conversationId":"a"}'),
  raw('with toString at the top', '{"toString":1,"conversationId":"a"}'),
  raw('with hasOwnProperty at the top', '{"hasOwnProperty":1,"conversationId":"a"}'),
  raw('65 deep', withArgs(JSON.stringify(deep(65)))),
  raw('a hundred thousand brackets', '['.repeat(100_000)),
  raw('a hundred thousand objects', '{"a":'.repeat(100_000)),
  {
    name: 'the body is over 1 MiB',
    path: '/v1/turns',
    text: withArgs(`{"s":"${'x'.repeat(1_048_577)}"}`),
    status: 413,
    problem: 'too-large',
  },
  {
    name: 'the body is over 1 MiB in canonical form only',
    path: '/v1/turns',
    text: withArgs(`{"s":"${'\\u00e9'.repeat(1)}${'\u007f'.repeat(1_048_500)}"}`),
    status: 413,
    problem: 'too-large',
  },
  {
    name: 'the body is a form',
    path: '/v1/turns',
    text: 'a=b',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    problem: 'unsupported-media-type',
  },
  {
    name: 'the body is XML',
    path: '/v1/turns',
    text: '<a/>',
    headers: { 'content-type': 'application/xml' },
    status: 415,
    problem: 'unsupported-media-type',
  },
  {
    name: 'the body is plain text',
    path: '/v1/turns',
    text: '{}',
    headers: { 'content-type': 'text/plain' },
    status: 415,
    problem: 'unsupported-media-type',
  },
];

const decision = (name: string, body: Record<string, unknown>, at?: string): BadRow => ({
  name: `decide: ${name}`,
  path: '/v1/approvals/{pending}/decision',
  body,
  by: 'approver',
  ...invalid,
  ...(at === undefined ? {} : { at }),
});
const DECIDING: readonly BadRow[] = [
  decision('nothing', {}, 'decision'),
  ...[null, '', 'yes', 'APPROVE', 'approved', 1, ['approve'], {}].map((value) =>
    decision(`decision ${show(value)}`, { decision: value }, 'decision'),
  ),
  ...[null, 7, {}, 'x'.repeat(4_001)].map((reason) =>
    decision(`reason ${show(reason)}`, { decision: 'deny', reason }, 'reason'),
  ),
  ...NO_OBJECTS.map((updatedInput) =>
    decision(`updatedInput ${show(updatedInput)}`, { decision: 'approve', updatedInput }, 'updatedInput'),
  ),
  decision('updatedInput with deny', { decision: 'deny', updatedInput: {} }, 'updatedInput'),
  decision('response with approve', { decision: 'approve', response: 1 }, 'response'),
  decision('respond without response', { decision: 'respond' }, 'response'),
  ...['', 'sha256:', `sha256:${'0'.repeat(63)}`, `SHA256:${'0'.repeat(64)}`, `sha256:${'G'.repeat(64)}`, 7, null].map(
    (argsDigest) => decision(`argsDigest ${show(argsDigest)}`, { decision: 'approve', argsDigest }, 'argsDigest'),
  ),
  decision('an approver in the body', { decision: 'approve', by: 'boss@example.com' }, 'by'),
  decision('a time in the body', { decision: 'approve', at: '2020-01-01T00:00:00.000Z' }, 'at'),
  {
    name: 'decide an approval that is none',
    path: `/v1/approvals/${AP}/decision`,
    body: { decision: 'approve' },
    by: 'approver',
    status: 404,
    problem: 'not-found',
  },
  {
    name: 'decide a call beyond the turn',
    path: '/v1/approvals/{beyond}/decision',
    body: { decision: 'approve' },
    by: 'approver',
    status: 404,
    problem: 'not-found',
  },
  ...['a.b', '*', '%3E', 'a%20b', '%00', 'a%2Fb', '%E2%80%AE', 'x'.repeat(129), '..%2f..'].map((id): BadRow => ({
    name: `decide ${show(id)}`,
    path: `/v1/approvals/${id}/decision`,
    body: { decision: 'approve' },
    by: 'approver',
    ...invalid,
  })),
  { name: 'decide %zz', path: '/v1/approvals/%zz/decision', body: { decision: 'approve' }, by: 'approver', ...invalid },
  ...[undefined, [], {}, null, Array.from({ length: 101 }, () => ({ approvalId: AP, decision: 'approve' }))].map(
    (items): BadRow => ({
      name: `decide many: items ${Array.isArray(items) ? items.length : show(items)}`,
      path: '/v1/decisions',
      body: { items },
      by: 'approver',
      ...invalid,
      at: 'items',
    }),
  ),
  {
    name: 'decide many: an item of nothing',
    path: '/v1/decisions',
    body: { items: [{}] },
    by: 'approver',
    ...invalid,
    at: 'items[0].approvalId',
  },
  {
    name: 'revoke without a reason',
    path: '/v1/approvals/{pending}/revoke',
    body: {},
    by: 'approver',
    ...invalid,
    at: 'reason',
  },
  {
    name: 'revoke with an empty reason',
    path: '/v1/approvals/{pending}/revoke',
    body: { reason: '' },
    by: 'approver',
    ...invalid,
    at: 'reason',
  },
  {
    name: 'withdraw a vote that there is not',
    method: 'DELETE',
    path: '/v1/approvals/{pending}/vote',
    by: 'approver',
    status: 404,
    problem: 'not-found',
  },
];

const worker = (
  name: string,
  path: string,
  good: Record<string, unknown>,
  fields: Record<string, readonly unknown[]>,
): BadRow[] =>
  Object.entries(fields).flatMap(([at, values]) =>
    values.map((value): BadRow => ({
      name: `${name}: ${at} ${show(value)}`,
      path,
      body: { ...good, [at]: value },
      ...invalid,
      at,
    })),
  );
const SOME_BAD_IDS = [undefined, ...BAD_IDS.slice(0, 6), null, 7];
const WORKING: readonly BadRow[] = [
  ...worker(
    'pull',
    '/v1/pools/default/continuations/pull',
    { workerId: 'w', max: 1, waitSeconds: 0 },
    { workerId: SOME_BAD_IDS, max: [null, '1', 0, -1, 1.5, 1e9], waitSeconds: [null, '1', -1, 0.5, 61], surplus: [1] },
  ),
  {
    name: 'pull from a pool with a dot',
    path: '/v1/pools/a.b/continuations/pull',
    body: { workerId: 'w' },
    ...invalid,
  },
  ...worker('resume', `/v1/continuations/${TN}/resume`, { workerId: 'w' }, { workerId: SOME_BAD_IDS }),
  {
    name: 'resume what is none',
    path: `/v1/continuations/${TN}/resume`,
    body: { workerId: 'w' },
    status: 404,
    problem: 'not-found',
  },
  {
    name: 'resume something else',
    path: '/v1/continuations/nonsense/resume',
    body: { workerId: 'w' },
    status: 404,
    problem: 'not-found',
  },
  ...worker('extend', `/v1/continuations/${TN}/extend`, { workerId: 'w', attempt: 1 }, { attempt: NO_COUNTS }),
  {
    name: 'give back what is none',
    path: `/v1/continuations/${TN}/give-back`,
    body: { workerId: 'w', attempt: 1 },
    status: 404,
    problem: 'not-found',
  },
  {
    name: 'done with what is none',
    path: `/v1/continuations/${TN}/done`,
    body: { workerId: 'w', attempt: 1 },
    status: 404,
    problem: 'not-found',
  },
  ...worker(
    'use',
    `/v1/approvals/${AP}/use`,
    { workerId: 'w', attempt: 1, argsDigest: DIGEST },
    { argsDigest: [undefined, '', 'sha256:', null, 7, {}], attempt: [undefined, null, '1', 0] },
  ),
  {
    name: 'use what is none',
    path: `/v1/approvals/${AP}/use`,
    body: { workerId: 'w', attempt: 1, argsDigest: DIGEST },
    status: 404,
    problem: 'not-found',
  },
  {
    name: 'use what is not decided',
    path: '/v1/approvals/{pending}/use',
    body: { workerId: 'w', attempt: 1, argsDigest: DIGEST },
    status: 409,
    problem: 'not-ready',
  },
  ...worker(
    'report',
    `/v1/approvals/${AP}/outcome`,
    { workerId: 'w', attempt: 1, ok: true },
    { ok: [undefined, ...NO_BOOLEANS], durationMs: [null, '1', -1, 0.5] },
  ),
  {
    name: 'report both result and error',
    path: '/v1/approvals/{pending}/outcome',
    body: { workerId: 'w', attempt: 1, ok: true, error: 'x' },
    ...invalid,
    at: 'error',
  },
  {
    name: 'report what did not begin',
    path: '/v1/approvals/{pending}/outcome',
    body: { workerId: 'w', attempt: 1, ok: true },
    status: 409,
    problem: 'not-ready',
  },
  ...worker(
    'settle',
    '/v1/approvals/{pending}/settle',
    { ok: true, reason: 'seen' },
    { ok: [undefined, 'true'], reason: [undefined, '', null, 7] },
  ).map((row): BadRow => ({ ...row, by: 'operator' })),
  {
    name: 'end with another status',
    path: '/v1/turns/t-1/end',
    body: { conversationId: 'bad', attempt: 1, status: 'cancelled' },
    ...invalid,
    at: 'status',
  },
  {
    name: 'end without a conversation',
    path: '/v1/turns/t-1/end',
    body: { attempt: 1, status: 'completed' },
    ...invalid,
    at: 'conversationId',
  },
  {
    name: 'end a turn that is none',
    path: '/v1/turns/t-1/end',
    body: { conversationId: 'nobody', attempt: 1, status: 'completed' },
    status: 404,
    problem: 'not-found',
  },
  {
    name: 'cancel a turn that is none',
    path: '/v1/turns/t-1/cancel',
    body: { conversationId: 'nobody' },
    status: 404,
    problem: 'not-found',
  },
  {
    name: 'cancel with a reason that is a number',
    path: '/v1/turns/t-1/cancel',
    body: { conversationId: 'nobody', reason: 7 },
    ...invalid,
    at: 'reason',
  },
  {
    name: 'redrive a turn that is none',
    path: '/v1/turns/t-1/redrive',
    body: { conversationId: 'nobody' },
    by: 'operator',
    status: 404,
    problem: 'not-found',
  },
];

export const get = (path: string, more: Partial<BadRow> = {}): BadRow => ({
  name: `read ${path.slice(0, 60)}`,
  method: 'GET',
  path,
  by: 'approver',
  ...invalid,
  ...more,
});
const READING: readonly BadRow[] = [
  ...['0', '201', '-1', '1.5', 'x', '', '1e2', '99999999999999999999'].map((limit) =>
    get(`/v1/approvals?limit=${limit}`, { at: 'limit' }),
  ),
  ...['open', 'PENDING', ''].map((status) => get(`/v1/approvals?status=${status}`, { at: 'status' })),
  ...['!', 'x', '%00', 'a'.repeat(600)].map((cursor) => get(`/v1/approvals?cursor=${cursor}`)),
  ...['-1', 'x', '1.5'].map((after) => get(`/v1/approvals?after=${after}`, { at: 'after' })),
  get('/v1/approvals?conversationId=a.b', { at: 'conversationId' }),
  get('/v1/approvals?unknown=1', { at: 'unknown' }),
  get('/v1/approvals?olderThanSeconds=-1', { at: 'olderThanSeconds' }),
  get('/v1/approvals?limit=1&limit=2', { at: 'limit' }),
  get(`/v1/approvals/${AP}`, { status: 404, problem: 'not-found' }),
  get('/v1/turns/t-1', { by: 'agent', at: 'conversationId' }),
  get('/v1/turns/t-1?conversationId=nobody', { by: 'agent', status: 404, problem: 'not-found' }),
  get('/v1/turns/t-1?conversationId=bad&wait=61', { by: 'agent', at: 'wait' }),
  get('/v1/turns/t-1?conversationId=bad&wait=-1', { by: 'agent', at: 'wait' }),
  get('/v1/turns/a%2Eb?conversationId=bad', { by: 'agent' }),
  get('/v1/turns?status=awaiting-approval', { by: 'operator', at: 'status' }),
  get('/v1/events?limit=1001', { by: 'admin', at: 'limit' }),
  get('/v1/events?type=Nonsense', { by: 'admin', at: 'type' }),
  get('/v1/conversations/a.b/events', { by: 'agent' }),
  get('/v1/conversations/bad/events', {
    name: 'a stream from a bad Last-Event-ID',
    by: 'agent',
    headers: { 'Last-Event-ID': 'x' },
  }),
  get('/v1/conversations/bad/events', {
    name: 'a stream from before the beginning',
    by: 'agent',
    headers: { 'Last-Event-ID': '-1' },
  }),
  get('/v1/stream?after=x', { at: 'after' }),
  get('/v1/nonsense', { status: 404, problem: 'not-found' }),
  get('/v1/exports', { status: 404, problem: 'not-found', by: 'admin' }),
];

const issue = (name: string, body: Record<string, unknown>, at: string): BadRow => ({
  name: `a token: ${name}`,
  path: '/v1/tokens',
  body: { name: 'n', subject: 's', roles: ['agent'], ...body },
  by: 'admin',
  ...invalid,
  at,
});
const TOKENS: readonly BadRow[] = [
  ...[undefined, null, [], ['king'], 'agent', ['agent', 'agent'], [null]].map((roles) =>
    issue(`roles ${show(roles)}`, { roles }, 'roles'),
  ),
  ...[undefined, '', null, 'a\u202eb', 'x'.repeat(321)].map((subject) =>
    issue(`subject ${show(subject)}`, { subject }, 'subject'),
  ),
  ...['', '_x', '-x', 'a.b', 'a b', 7].map((tenant) => issue(`tenant ${show(tenant)}`, { tenant }, 'tenant')),
  issue('expires never', { expiresInSeconds: 0 }, 'expiresInSeconds'),
  issue('its own secret', { secret: 'mine' }, 'secret'),
  {
    name: 'a token by an agent',
    path: '/v1/tokens',
    body: { name: 'n', subject: 's', roles: ['admin'] },
    by: 'agent',
    status: 403,
    problem: 'forbidden',
  },
  {
    name: 'revoke a token that is none',
    path: `/v1/tokens/tk_${'a'.repeat(26)}/revoke`,
    by: 'admin',
    status: 404,
    problem: 'not-found',
  },
];

interface Known {
  readonly status: number;
  readonly problem: string;
  readonly by?: NonNullable<BadRow['by']>;
}
const me = (name: string, headers: Record<string, string>, { by = 'admin', ...expected }: Known): BadRow => ({
  name,
  method: 'GET',
  path: '/v1/me',
  headers,
  by,
  ...expected,
});
const STRANGER = { status: 401, problem: 'unauthenticated', by: 'nobody' } as const;
const HEADERS: readonly BadRow[] = [
  me('no token', {}, STRANGER),
  me('a forged token', {}, { ...STRANGER, by: 'forger' }),
  ...['Basic YTpi', 'Bearer', 'Bearer  ', 'Bearer hp_x_y', 'bearer hp_tk_x', `Bearer ${'x'.repeat(5_000)}`].map(
    (authorization) => me(`authorization ${show(authorization)}`, { authorization }, STRANGER),
  ),
  ...['_x', 'a.b', '*', 'x'.repeat(65)].map((tenant) =>
    me(`tenant ${show(tenant)}`, { 'Holdpoint-Tenant': tenant }, invalid),
  ),
  me('another tenant by an agent', { 'Holdpoint-Tenant': 'other' }, { status: 403, problem: 'forbidden', by: 'agent' }),
  {
    name: 'an Idempotency-Key that is too long',
    path: '/v1/turns',
    body: turn,
    headers: { 'Idempotency-Key': 'k'.repeat(256) },
    ...invalid,
  },
  {
    name: 'an Idempotency-Key with a space only',
    path: '/v1/turns',
    body: turn,
    headers: { 'Idempotency-Key': 'a b\u00e9' },
    ...invalid,
  },
  {
    name: 'a method that is none',
    method: 'PUT',
    path: '/v1/turns',
    body: turn,
    status: 405,
    problem: 'method-not-allowed',
  },
  {
    name: 'a POST where a GET is',
    method: 'POST',
    path: '/v1/me',
    body: {},
    status: 405,
    problem: 'method-not-allowed',
  },
];

const NESTED: readonly BadRow[] = [
  openWith('a holder with a field more', { holder: { workerId: 'w', token: 't' } }, 'holder.token'),
  openWith('an agent with another owner', { agent: { id: 'a', owner: 'eve' } }, 'agent.owner'),
  openWith('agent.onBehalfOf null', { agent: { id: 'a', onBehalfOf: null } }, 'agent.onBehalfOf'),
  openWith('agent.onBehalfOf reversed', { agent: { id: 'a', onBehalfOf: 'a\u202ed' } }, 'agent.onBehalfOf'),
  openWith('agent.path as text', { agent: { id: 'a', path: 'root' } }, 'agent.path'),
  openWith('agent.path with an invisible name', { agent: { id: 'a', path: ['a\u200b'] } }, 'agent.path'),
  openWith(
    'the 64th call is bad',
    {
      toolCalls: Array.from({ length: 64 }, (_, n) => ({
        ...call,
        toolCallId: `c${n}`,
        ...(n === 63 ? { x: 1 } : {}),
      })),
    },
    'toolCalls[63].x',
  ),
  {
    name: 'decide many: the second item has a field more',
    path: '/v1/decisions',
    body: {
      items: [
        { approvalId: AP, decision: 'approve' },
        { approvalId: AP, decision: 'approve', by: 'eve' },
      ],
    },
    by: 'approver',
    ...invalid,
    at: 'items[1].by',
  },
  raw('an argument with a key twice, deep', withArgs('{"a":[{"b":{"c":1,"c":2}}]}'), `${ARGS}.a[0].b.c`),
  raw('__proto__ deep in the arguments', withArgs('{"a":[{"b":{"__proto__":{}}}]}')),
  raw('a number too long, deep', withArgs('{"a":[1,{"b":[0.1234567890123456789]}]}'), `${ARGS}.a[1].b[0]`),
  raw('1e-400', withArgs('{"n":1e-400}'), `${ARGS}.n`),
  raw('a control character in a text', withArgs('{"s":"a\u0000b"}')),
  raw('two surrogates the wrong way round', withArgs('{"s":"\\udc00\\ud800"}'), `${ARGS}.s`),
  raw('an unknown escape', withArgs('{"s":"\\x41"}')),
  raw('a number with a leading zero', withArgs('{"n":01}')),
  raw('a number with a plus', withArgs('{"n":+1}')),
  raw('Infinity', withArgs('{"n":Infinity}')),
  raw('single quotes', `{'conversationId':'x'}`),
  raw('65 lists deep', withArgs(`{"a":${'['.repeat(65)}${']'.repeat(65)}}`)),
];

export const BAD_INPUT: readonly BadRow[] = [
  ...OPENING,
  ...TEXTS,
  ...DECIDING,
  ...WORKING,
  ...READING,
  ...TOKENS,
  ...HEADERS,
  ...NESTED,
];
