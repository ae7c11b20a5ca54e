import { DIGEST, invalid, type BadRow } from './bad-input.table.js';

const GRANT = { scope: { tool: 't' }, schemaDigest: DIGEST };
const NO_NAMES: readonly unknown[] = ['', ' t', 't\u202e', 't\u0000', 'x'.repeat(201), null, 7, [], {}];
const NO_COUNTS: readonly unknown[] = [null, '1', 0, -1, 1.5, 1e15, true, {}, []];
const NO_TEXTS: readonly unknown[] = ['', 'x'.repeat(4_097), null, 7, {}, []];
/** Conditions that are not valid, or could cost more than is sane. */
const NO_CONDITIONS = ['args.to +', 'nonsense == 1', 'args.a.all(x, args.b.all(y, x == y))', '('.repeat(200)];

const show = (value: unknown): string => JSON.stringify(value).slice(0, 24);

const grantWith = (path: string, body: Record<string, unknown>, at: string, name = show(body)): BadRow => ({
  name: `${path} ${name}`,
  path,
  body: { ...GRANT, ...body },
  by: 'approver',
  ...invalid,
  at,
});

const fieldsOf = (path: string): readonly BadRow[] => [
  ...NO_NAMES.map((tool) => grantWith(path, { scope: { tool } }, 'scope.tool')),
  ...NO_NAMES.map((server) => grantWith(path, { scope: { tool: 't', server } }, 'scope.server')),
  ...NO_NAMES.map((agent) => grantWith(path, { scope: { tool: 't', agent } }, 'scope.agent')),
  ...[...NO_NAMES, 'a.b', 'a b'].map((id) =>
    grantWith(path, { scope: { tool: 't', conversationId: id } }, 'scope.conversationId'),
  ),
  ...NO_TEXTS.map((when) => grantWith(path, { scope: { tool: 't', when } }, 'scope.when')),
  ...NO_CONDITIONS.map((when) => grantWith(path, { scope: { tool: 't', when } }, 'scope.when')),
  ...[null, 'x', 7, [], true].map((scope) => grantWith(path, { scope }, 'scope')),
  grantWith(path, { scope: {} }, 'scope.tool'),
  grantWith(path, { scope: { tool: 't', tools: ['*'] } }, 'scope.tools'),
  ...[...NO_COUNTS, 31_536_001].map((seconds) => grantWith(path, { expiresInSeconds: seconds }, 'expiresInSeconds')),
  ...[...NO_COUNTS, 10_001].map((uses) => grantWith(path, { maxUses: uses }, 'maxUses')),
  ...['', 'sha256:0', DIGEST.toUpperCase(), null, 7].map((digest) =>
    grantWith(path, { schemaDigest: digest }, 'schemaDigest'),
  ),
];

const remember = (body: Record<string, unknown>, at: string, name = show(body)): BadRow => ({
  name: `remember ${name}`,
  path: '/v1/approvals/{pending}/decision',
  body: { decision: 'approve', ...body },
  by: 'approver',
  ...invalid,
  at,
});
const SEEN = { scope: { tool: 'send_email' } };

export const GRANTS: readonly BadRow[] = [
  ...fieldsOf('/v1/grants'),
  ...fieldsOf('/v1/grants/preview'),
  {
    ...grantWith('/v1/grants', { schemaDigest: undefined }, 'schemaDigest', 'of a tool that nobody called'),
    by: 'operator',
  },
  { name: 'a grant by an agent', path: '/v1/grants', body: GRANT, status: 403, problem: 'forbidden' },
  ...['approve_', 'x', '_'.repeat(30)].map((id): BadRow => ({
    name: `ends ${id}`,
    path: `/v1/grants/${id}/end`,
    body: {},
    by: 'approver',
    status: 404,
    problem: 'not-found',
  })),
  {
    name: 'ends what is not there',
    path: `/v1/grants/gr_${'a'.repeat(26)}/end`,
    by: 'approver',
    status: 404,
    problem: 'not-found',
  },
  {
    name: 'reads what is not there',
    method: 'GET',
    path: `/v1/grants/gr_${'a'.repeat(26)}`,
    by: 'approver',
    status: 404,
    problem: 'not-found',
  },
  ...NO_TEXTS.filter((reason) => reason !== 'x'.repeat(4_097)).map((reason): BadRow => ({
    name: `ends because of ${show(reason)}`,
    path: `/v1/grants/gr_${'a'.repeat(26)}/end`,
    body: { reason },
    by: 'approver',
    ...invalid,
    at: 'reason',
  })),
  ...[null, 'x', 7, [], true].map((value) => remember({ remember: value }, 'remember')),
  remember({ remember: {} }, 'remember.scope'),
  remember({ remember: { ...SEEN, uses: 1 } }, 'remember.uses'),
  remember({ remember: { ...SEEN, maxUses: 0 } }, 'remember.maxUses'),
  remember({ remember: { ...SEEN, schemaDigest: DIGEST } }, 'remember.schemaDigest'),
  remember({ decision: 'deny', remember: SEEN }, 'remember', 'a denial'),
  remember({ updatedInput: { to: 'y' }, remember: SEEN }, 'remember', 'an edit'),
  ...[
    { tool: 'another' },
    { tool: 'send_*' },
    { server: 'other' },
    { agent: 'another' },
    { conversationId: 'another' },
    { when: "args.to == 'nobody'" },
    { when: 'args.missing == 1' },
    { when: 'args.to' },
  ].map((scope) =>
    remember(
      { remember: { scope: { tool: 'send_email', ...scope } } },
      'remember.scope',
      `what this call is not in: ${show(scope)}`,
    ),
  ),
  ...NO_CONDITIONS.map((when) => remember({ remember: { scope: { ...SEEN.scope, when } } }, 'remember.scope.when')),
];
