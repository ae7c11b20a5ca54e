import type { BadRow } from './bad-input.table.js';

/** As they stand in an address; each would mean something else to the log, to a folder, to a reader or to a parser. */
const HOSTILE = [
  'a.b',
  '*',
  '%3E',
  'a%20b',
  '%00',
  'a%2Fb',
  '..%2F..%2Fetc',
  // A client itself resolves the plain one.
  'a%2e%2e',
  '%252e%252e',
  '%E2%80%AE',
  'a%CC%88',
  '%C3%A4',
  '%EF%BB%BFa',
  '%F0%9F%98%80',
  '%FF',
  '%ED%A0%80',
  '%zz',
  'x'.repeat(129),
  "a'--",
  '%24JS.API.INFO',
];

const worker = { workerId: 'w' };
const attempt = { ...worker, attempt: 1 };
const turn = { conversationId: 'bad' };
const DIGEST = `sha256:${'0'.repeat(64)}`;

type Target = Pick<BadRow, 'method' | 'path' | 'body' | 'by'>;
const BY_ID: readonly Target[] = [
  { method: 'GET', path: '/v1/turns/{id}?conversationId=bad' },
  { path: '/v1/turns/{id}/cancel', body: turn },
  { path: '/v1/turns/{id}/resume', body: { ...turn, ...worker } },
  { path: '/v1/turns/{id}/end', body: { ...turn, attempt: 1, status: 'completed' } },
  { path: '/v1/turns/{id}/redrive', body: turn, by: 'operator' },
  { path: '/v1/pools/{id}/continuations/pull', body: { ...worker, waitSeconds: 0 } },
  { path: '/v1/continuations/{id}/resume', body: worker },
  { path: '/v1/continuations/{id}/extend', body: attempt },
  { path: '/v1/continuations/{id}/give-back', body: attempt },
  { path: '/v1/continuations/{id}/done', body: attempt },
  { method: 'GET', path: '/v1/approvals/{id}', by: 'approver' },
  { path: '/v1/approvals/{id}/decision', body: { decision: 'approve' }, by: 'approver' },
  { method: 'DELETE', path: '/v1/approvals/{id}/vote', by: 'approver' },
  { path: '/v1/approvals/{id}/revoke', body: { reason: 'r' }, by: 'approver' },
  { path: '/v1/approvals/{id}/settle', body: { ok: true, reason: 'r' }, by: 'operator' },
  { path: '/v1/approvals/{id}/use', body: { ...attempt, argsDigest: DIGEST } },
  { path: '/v1/approvals/{id}/outcome', body: { ...attempt, ok: true } },
  { path: '/v1/parked/{id}/unpark', by: 'operator' },
  { path: '/v1/tokens/{id}/revoke', by: 'admin' },
  { method: 'GET', path: '/v1/grants/{id}', by: 'approver' },
  { path: '/v1/grants/{id}/end', by: 'approver' },
  { method: 'GET', path: '/v1/conversations/{id}/events' },
];

/** Every address that takes an id × every id that is none. */
export const BAD_PATHS: readonly BadRow[] = BY_ID.flatMap((target) =>
  HOSTILE.map((id): BadRow => ({
    ...target,
    name: `${target.method ?? 'POST'} ${target.path.replace('{id}', id.slice(0, 16))}`,
    path: target.path.replace('{id}', () => id),
    status: 400,
    problem: 'invalid-input',
  })),
);
