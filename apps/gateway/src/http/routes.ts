import { BulkDecisions, DecisionBody, RevokeBody, UseBody } from '#contracts/approvals/commands';
import { ApprovalsQuery, EventsQuery, ListQuery, StreamQuery, TurnsQuery } from '#contracts/queries';
import { IssueToken } from '#contracts/tokens/commands';
import type { Role } from '#contracts/tokens/events';
import { AttemptBody, OpenTurn, OutcomeBody, SettleBody, WorkerBody } from '#contracts/turns/commands';
import { CancelBody, ConversationBody, EndBody, PullBody, ResumeBody, TurnQuery } from '#contracts/turns/requests';

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** As OpenAPI writes it: `{name}` for a parameter. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** Who may call; `[]` is whoever has a good token, `open` whoever comes. The admin has every role. */
  readonly roles: readonly Role[] | 'open';
  readonly body?: new () => object;
  readonly query?: new () => object;
  /** 200 where not said. */
  readonly success?: 201;
  /** Answers with server-sent events. */
  readonly stream?: true;
}

const AGENT = ['agent'] as const;
const APPROVER = ['approver'] as const;
const READERS = ['approver', 'operator', 'auditor'] as const;
const EVERYBODY = ['agent', 'approver', 'operator', 'auditor'] as const;

/** The one table of what the gateway answers: controllers, checks of input and roles, and OpenAPI all come from it. */
export const ROUTES = {
  openTurn: {
    method: 'POST',
    path: '/v1/turns',
    roles: AGENT,
    body: OpenTurn,
    success: 201,
    summary: 'Open a turn: ask for the approval of its tool calls',
  },
  listTurns: {
    method: 'GET',
    path: '/v1/turns',
    roles: ['operator', 'auditor'],
    query: TurnsQuery,
    summary: 'Turns that are decided but not resumed, oldest first',
  },
  readTurn: {
    method: 'GET',
    path: '/v1/turns/{turnId}',
    roles: EVERYBODY,
    query: TurnQuery,
    summary: 'State, approvals and, once decided, results of a turn',
  },
  redriveTurn: {
    method: 'POST',
    path: '/v1/turns/{turnId}/redrive',
    roles: ['operator'],
    body: ConversationBody,
    summary: 'Offer a decided turn again',
  },
  cancelTurn: {
    method: 'POST',
    path: '/v1/turns/{turnId}/cancel',
    roles: AGENT,
    body: CancelBody,
    summary: 'End a turn: open approvals are cancelled, unused ones revoked',
  },
  resumeTurn: {
    method: 'POST',
    path: '/v1/turns/{turnId}/resume',
    roles: AGENT,
    body: ResumeBody,
    summary: 'The holder takes its own turn',
  },
  endTurn: { method: 'POST', path: '/v1/turns/{turnId}/end', roles: AGENT, body: EndBody, summary: 'The turn is over' },

  pull: {
    method: 'POST',
    path: '/v1/pools/{pool}/continuations/pull',
    roles: AGENT,
    body: PullBody,
    summary: 'Wait for continuations of a pool',
  },
  resume: {
    method: 'POST',
    path: '/v1/continuations/{leaseId}/resume',
    roles: AGENT,
    body: WorkerBody,
    summary: 'Take a continuation',
  },
  extend: {
    method: 'POST',
    path: '/v1/continuations/{leaseId}/extend',
    roles: AGENT,
    body: AttemptBody,
    summary: 'Keep a continuation longer',
  },
  giveBack: {
    method: 'POST',
    path: '/v1/continuations/{leaseId}/give-back',
    roles: AGENT,
    body: AttemptBody,
    summary: 'Offer a continuation to others at once',
  },
  done: {
    method: 'POST',
    path: '/v1/continuations/{leaseId}/done',
    roles: AGENT,
    body: AttemptBody,
    summary: 'This call needs no further offer',
  },

  listApprovals: {
    method: 'GET',
    path: '/v1/approvals',
    roles: READERS,
    query: ApprovalsQuery,
    summary: 'Approvals, oldest first',
  },
  readApproval: {
    method: 'GET',
    path: '/v1/approvals/{approvalId}',
    roles: EVERYBODY,
    summary: 'One approval with its whole history',
  },
  decide: {
    method: 'POST',
    path: '/v1/approvals/{approvalId}/decision',
    roles: APPROVER,
    body: DecisionBody,
    summary: 'Approve, deny, respond or cancel',
  },
  withdrawVote: {
    method: 'DELETE',
    path: '/v1/approvals/{approvalId}/vote',
    roles: APPROVER,
    summary: 'Withdraw my vote',
  },
  decideMany: {
    method: 'POST',
    path: '/v1/decisions',
    roles: APPROVER,
    body: BulkDecisions,
    summary: 'Up to 100 decisions, each on its own',
  },
  revoke: {
    method: 'POST',
    path: '/v1/approvals/{approvalId}/revoke',
    roles: APPROVER,
    body: RevokeBody,
    summary: 'Take an approval back before it is used',
  },
  settle: {
    method: 'POST',
    path: '/v1/approvals/{approvalId}/settle',
    roles: ['operator'],
    body: SettleBody,
    summary: 'Say what became of a call in doubt',
  },
  use: {
    method: 'POST',
    path: '/v1/approvals/{approvalId}/use',
    roles: AGENT,
    body: UseBody,
    summary: 'Take the right to execute, once',
  },
  reportOutcome: {
    method: 'POST',
    path: '/v1/approvals/{approvalId}/outcome',
    roles: AGENT,
    body: OutcomeBody,
    summary: 'Report what the tool gave',
  },

  issueToken: {
    method: 'POST',
    path: '/v1/tokens',
    roles: ['admin'],
    body: IssueToken,
    success: 201,
    summary: 'Issue a token; it is shown this once',
  },
  listTokens: {
    method: 'GET',
    path: '/v1/tokens',
    roles: ['admin'],
    query: ListQuery,
    summary: 'API tokens, without their secrets',
  },
  revokeToken: { method: 'POST', path: '/v1/tokens/{tokenId}/revoke', roles: ['admin'], summary: 'Revoke a token' },
  me: { method: 'GET', path: '/v1/me', roles: [], summary: 'Who am I, with which roles' },

  stats: {
    method: 'GET',
    path: '/v1/stats',
    roles: READERS,
    query: StreamQuery,
    summary: 'Counts, ages and latencies',
  },
  listEvents: {
    method: 'GET',
    path: '/v1/events',
    roles: ['auditor'],
    query: EventsQuery,
    summary: 'The log, page by page',
  },
  listParked: {
    method: 'GET',
    path: '/v1/parked',
    roles: ['operator', 'auditor'],
    query: ListQuery,
    summary: 'What could not be applied',
  },
  unpark: {
    method: 'POST',
    path: '/v1/parked/{approvalId}/unpark',
    roles: ['operator'],
    summary: 'Apply again what could not be applied',
  },
  conversationStream: {
    method: 'GET',
    path: '/v1/conversations/{conversationId}/events',
    roles: EVERYBODY,
    query: StreamQuery,
    stream: true,
    summary: 'A conversation as it happens',
  },
  approvalStream: {
    method: 'GET',
    path: '/v1/stream',
    roles: READERS,
    query: StreamQuery,
    stream: true,
    summary: 'Approvals as they change',
  },

  openApi: { method: 'GET', path: '/v1/openapi.json', roles: 'open', summary: 'This description' },
  ready: { method: 'GET', path: '/readyz', roles: 'open', summary: 'Whether decisions can be taken' },
  healthy: { method: 'GET', path: '/healthz', roles: 'open', summary: 'Whether the process lives' },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
export const routeNamed = (name: RouteName): Route => ROUTES[name];
export const ALL_ROUTES: readonly Route[] = Object.values(ROUTES);

export const parametersOf = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

const patterns = ALL_ROUTES.map(({ path, method }) => ({
  method,
  at: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Which methods an address takes, for 405 and OPTIONS; none where there is nothing at it. */
export function methodsAt(pathname: string): readonly string[] {
  const methods = new Set<string>(patterns.filter(({ at }) => at.test(pathname)).map(({ method }) => method));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods];
}
