import { describe, expect, it } from '@jest/globals';
import { digestOf } from '#contracts/canonical';
import type { Recorded } from '#contracts/envelope';
import type { HoldpointEvent } from '#contracts/events';
import { approvalIdOf, instant, later, turnKeyOf, type Tenant, type TokenId } from '#contracts/ids';
import type { Change } from '#decider/projection';
import { NO_POLICIES } from '#policy/in-force';
import { projectApproval } from './approvals/approvals.projection.js';
import { projectAttempt } from './attempts/attempts.projection.js';
import { projectDue } from './due/due.projection.js';
import { projectToken } from './tokens/tokens.projection.js';
import { projectTurn } from './turns/turns.projection.js';

const tenant = 'default' as Tenant;
const occurredAt = instant(Date.parse('2026-03-01T10:00:00.000Z'));
const turnKey = turnKeyOf(tenant, 'conv-1', 't-1');
const approvalId = approvalIdOf(turnKey, 0);
const tokenId = `tk_${'a'.repeat(26)}` as TokenId;

const fact = (event: HoldpointEvent): Recorded<HoldpointEvent> => ({
  event,
  tenant,
  seq: 7,
  subject: 'not read here',
  eventId: 'e',
  occurredAt,
  storedAt: occurredAt,
  correlationId: 'conv-1',
  causationId: 'request',
  actor: { kind: 'person', id: 'ada@example.com', via: 'test' },
});
const call = (toolCallId: string) => ({
  toolCallId,
  toolName: 'Pay',
  args: { b: 1, a: '\u0000' },
  argsDigest: digestOf(1),
});
const requested = (expiresInSeconds?: number) =>
  fact({
    type: 'ToolApprovalRequested',
    data: {
      turnKey,
      conversationId: 'conv-1',
      turnId: 't-1',
      agent: { id: 'Payer' },
      release: 'all',
      pool: 'default',
      toolCalls: [call('c-0'), call('c-1')],
      digest: digestOf(1),
      tokenId,
      ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }),
    },
  });
const decided = (decision: 'approved' | 'denied' | 'expired') =>
  fact({
    type: 'ToolApprovalDecided',
    data: {
      approvalId,
      decision,
      argsDigest: digestOf(1),
      response: null,
      requirement: { policyVersion: 0, engineVersion: '1', hash: digestOf(1) },
      requestSeq: 1,
    },
  });
const used = fact({
  type: 'ToolExecutionStarted',
  data: { approvalId, attempt: 1, workerId: 'w-1', tokenId, argsDigest: digestOf(1) },
});
const lease = { n: 1, attempt: 2, since: occurredAt, workerId: 'w-1', tokenId };
const resumed = (key: typeof turnKey | typeof approvalId) =>
  fact({ type: 'TurnResumed', data: { key, ...lease, leaseUntil: later(occurredAt, 60) } });
const givenBack = fact({ type: 'LeaseGivenBack', data: { key: turnKey, ...lease } });

const rowsOf = (changes: readonly Change[]) =>
  changes.map((change) => (change.kind === 'put' ? change.row : { removed: change.key }));

describe('deadlines', () => {
  const due = (event: Recorded<HoldpointEvent>) => rowsOf(projectDue(event, NO_POLICIES));
  it('begin with the request, one a call', () =>
    expect(due(requested())).toEqual(
      [0, 1].map((index) => ({
        tenant,
        approval_id: approvalIdOf(turnKey, index),
        what: 'expiry',
        at: later(occurredAt, 86_400),
        seq: 7,
      })),
    ));
  it('are sooner where the request says so', () =>
    expect(due(requested(60))[0]).toMatchObject({ at: later(occurredAt, 60) }));
  it('are over with the decision; an approved one is to be used in time', () => {
    const over = ['expiry', 'hold', 'escalation', 'policy'].map((what) => ({
      removed: { tenant, approval_id: approvalId, what },
    }));
    expect(due(decided('denied'))).toEqual(over);
    expect(due(decided('approved'))).toEqual([
      ...over,
      { tenant, approval_id: approvalId, what: 'lapse', at: later(occurredAt, 86_400), seq: 7 },
    ]);
  });
  it('to use it are over with its use', () =>
    expect(due(used)).toEqual([{ removed: { tenant, approval_id: approvalId, what: 'lapse' } }]));
});

describe('an approval’s row', () => {
  it('keeps arguments as canonical JSON, and names and ids for finding', () =>
    expect(rowsOf(projectApproval(requested(), NO_POLICIES))[1]).toMatchObject({
      call_index: 1,
      args: '{"a":"\\u0000","b":1}',
      search: ['pay', '', 'payer', approvalIdOf(turnKey, 1), 't-1', 'conv-1', 'c-1'].join('\n'),
      request_seq: 7,
    }));
  it('is given columns by each kind of fact that no other kind gives', () => {
    const kinds = [requested(), decided('approved'), used, resumed(approvalId)];
    const columns = kinds.flatMap((one) => Object.keys(rowsOf(projectApproval(one, NO_POLICIES))[0] ?? {}));
    const shared = columns.filter((column, at) => columns.indexOf(column) !== at);
    expect(new Set(shared)).toEqual(new Set(['tenant', 'approval_id', 'seq']));
  });
  it('has a lease where the call was taken, and the turn’s row where the turn was', () => {
    expect([projectApproval(resumed(approvalId), NO_POLICIES).length, projectTurn(resumed(approvalId)).length]).toEqual(
      [1, 0],
    );
    expect([projectApproval(resumed(turnKey), NO_POLICIES).length, projectTurn(resumed(turnKey)).length]).toEqual([
      0, 1,
    ]);
  });
});

describe('a turn’s row', () => {
  it('says until when a lease that was given back ran', () =>
    expect(rowsOf(projectTurn(givenBack))).toEqual([
      {
        tenant,
        turn_key: turnKey,
        lease_state: 'given-back',
        lease_attempt: 2,
        lease_worker_id: 'w-1',
        lease_since: occurredAt,
        lease_until: occurredAt,
        seq: 7,
      },
    ]));
});

describe('an attempt’s row', () => {
  it('is one a taking', () => {
    expect(rowsOf(projectAttempt(resumed(approvalId)))).toEqual([
      {
        tenant,
        lease_key: approvalId,
        attempt: 2,
        turn_key: turnKey,
        worker_id: 'w-1',
        token_id: tokenId,
        since: occurredAt,
        lease_until: later(occurredAt, 60),
        seq: 7,
      },
    ]);
    expect(rowsOf(projectAttempt(givenBack))).toEqual([
      { tenant, lease_key: turnKey, attempt: 2, given_back_at: occurredAt, seq: 7 },
    ]);
  });
});

describe('a token’s row', () => {
  it('has nothing of the secret', () => {
    const secretHash = 'f'.repeat(64);
    const issued = fact({
      type: 'TokenIssued',
      data: { tokenId, secretHash, name: 'n', subject: 's', roles: ['agent'], pools: ['p'] },
    });
    expect(rowsOf(projectToken(issued))).toMatchObject([
      { roles: '["agent"]', pools: '["p"]', issued_by: 'ada@example.com' },
    ]);
    expect(JSON.stringify(projectToken(issued))).not.toContain(secretHash);
  });
});

describe('a log’s first fact', () => {
  it('is in no row', () => {
    const opened = fact({ type: 'LogOpened', data: { epoch: 'e1', logId: 'l' } });
    for (const project of [projectTurn, projectApproval, projectDue, projectToken, projectAttempt])
      expect(project(opened, NO_POLICIES)).toEqual([]);
  });
});
