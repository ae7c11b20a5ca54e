import { AP, DIGEST, invalid, TN, turn, type BadRow } from './bad-input.table.js';

const ONE = { approvers: { count: 1 } };

type Bodied = Pick<BadRow, 'path' | 'body' | 'by'>;
const BODIED: readonly Bodied[] = [
  { path: '/v1/turns', body: turn },
  { path: '/v1/turns/t-1/cancel', body: { conversationId: 'bad' } },
  { path: '/v1/turns/t-1/resume', body: { conversationId: 'bad', workerId: 'w' } },
  { path: '/v1/turns/t-1/end', body: { conversationId: 'bad', attempt: 1, status: 'completed' } },
  { path: '/v1/turns/t-1/redrive', body: { conversationId: 'bad' }, by: 'operator' },
  { path: '/v1/pools/default/continuations/pull', body: { workerId: 'w' } },
  { path: `/v1/continuations/${TN}/resume`, body: { workerId: 'w' } },
  { path: `/v1/continuations/${TN}/extend`, body: { workerId: 'w', attempt: 1 } },
  { path: `/v1/continuations/${TN}/give-back`, body: { workerId: 'w', attempt: 1 } },
  { path: `/v1/continuations/${TN}/done`, body: { workerId: 'w', attempt: 1 } },
  { path: '/v1/approvals/{pending}/use', body: { workerId: 'w', attempt: 1, argsDigest: DIGEST } },
  { path: '/v1/approvals/{pending}/outcome', body: { workerId: 'w', attempt: 1, ok: true } },
  { path: '/v1/approvals/{pending}/decision', body: { decision: 'approve' }, by: 'approver' },
  { path: '/v1/decisions', body: { items: [{ approvalId: AP, decision: 'approve' }] }, by: 'approver' },
  { path: '/v1/approvals/{pending}/revoke', body: { reason: 'r' }, by: 'approver' },
  { path: '/v1/approvals/{pending}/settle', body: { ok: true, reason: 'r' }, by: 'operator' },
  { path: '/v1/policies', body: { expectedVersion: 0, rules: [], default: ONE }, by: 'operator' },
  { path: '/v1/policies/simulate', body: { rules: [], default: ONE }, by: 'operator' },
  { path: '/v1/freezes', body: { on: true, reason: 'r' }, by: 'operator' },
  { path: '/v1/grants', body: { scope: { tool: 't' }, schemaDigest: DIGEST }, by: 'approver' },
  { path: '/v1/grants/preview', body: { scope: { tool: 't' }, schemaDigest: DIGEST }, by: 'approver' },
  { path: '/v1/tokens', body: { name: 'n', subject: 's', roles: ['agent'] }, by: 'admin' },
];
const WHO_AND_WHEN = ['actor', 'occurredAt', 'eventId', 'seq', 'tokenId', 'subjectOf', 'caller'];
/** What no address takes, at every address that takes a body. */
export const BODIES: readonly BadRow[] = BODIED.flatMap(({ body, ...where }): BadRow[] => {
  const good = JSON.stringify(body);
  const row = (name: string, text: string | Uint8Array, at?: string): BadRow => ({
    ...where,
    name: `${where.path.slice(0, 40)}: ${name}`,
    text,
    ...invalid,
    ...(at === undefined ? {} : { at }),
  });
  return [
    row('no body', ''),
    row('an array', `[${good}]`),
    row('null', 'null'),
    row('text', '"x"'),
    row('cut off', good.slice(0, -1)),
    row('followed by more', `${good}{}`),
    row('after a byte order mark', `\ufeff${good}`),
    row('a key twice', `${good.slice(0, -1)},${good.slice(1)}`),
    row('__proto__', `{"__proto__":{"ok":true},${good.slice(1)}`),
    row('constructor', `{"constructor":{"prototype":{"ok":true}},${good.slice(1)}`),
    row('a key that is empty', `{"":1,${good.slice(1)}`),
    row('a key in the wrong case', `{"WorkerID":"w",${good.slice(1)}`, 'WorkerID'),
    row(
      'not UTF-8',
      new Uint8Array([...Buffer.from(good.slice(0, -1)), 0x2c, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
    ),
    ...WHO_AND_WHEN.map((field) => row(`${field} in the body`, `{"${field}":"eve",${good.slice(1)}`, field)),
    { ...row('over 1 MiB', `{"x":"${'x'.repeat(1_048_577)}"}`), status: 413, problem: 'too-large' },
    {
      ...row('as a form', 'a=b'),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      status: 415,
      problem: 'unsupported-media-type',
    },
    {
      ...row('in UTF-16', good),
      headers: { 'content-type': 'application/json; charset=utf-16' },
      status: 415,
      problem: 'unsupported-media-type',
    },
    {
      ...row('compressed', good),
      headers: { 'content-encoding': 'gzip' },
      status: 415,
      problem: 'unsupported-media-type',
    },
    { ...row('by nobody', good), by: 'nobody', status: 401, problem: 'unauthenticated' },
    { ...row('by a forger', good), by: 'forger', status: 401, problem: 'unauthenticated' },
  ];
});
