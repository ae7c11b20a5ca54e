import { TurnsQuery } from '#contracts/queries';
import { AttemptBody, OpenTurn, WorkerBody } from '#contracts/turns/commands';
import { CancelBody, ConversationBody, EndBody, PullBody, ResumeBody, TurnQuery } from '#contracts/turns/requests';
import { AGENT, EVERYBODY, type Route } from '../http/route.js';

export const TURN_ROUTES = {
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
} as const satisfies Record<string, Route>;
