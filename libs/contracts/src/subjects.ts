import { isSetting, type HoldpointEvent, type SettingEvent } from './events.js';
import type { ContinueConversation } from './continuations/events.js';
import {
  isApprovalId,
  type ApprovalId,
  type GrantId,
  type LeaseKey,
  type Tenant,
  type TokenId,
  type TurnKey,
} from './ids.js';

/** Lets the log be rolled and sealed later (design 3.1). */
export const EPOCH = 'e1';
export const EVENTS_STREAM = 'EVENTS';
export const COMMANDS_STREAM = 'COMMANDS';

const events = (tenant: string, rest: string) => `hp.v1.${EPOCH}.${tenant}.${rest}`;

/** One fact, one subject; the last fixed word alone names the writer (design 3.1). */
export const subjects = {
  genesis: `hp.v1.${EPOCH}._sys.genesis`,
  request: (tenant: Tenant, turnKey: TurnKey) => events(tenant, `${turnKey}.req`),
  lease: (tenant: Tenant, key: LeaseKey, n: number) => events(tenant, `${key}.res.${n}`),
  leases: (tenant: Tenant, key: LeaseKey) => events(tenant, `${key}.res.*`),
  end: (tenant: Tenant, turnKey: TurnKey) => events(tenant, `${turnKey}.end`),
  outcome: (tenant: Tenant, id: ApprovalId) => events(tenant, `${id}.out`),
  decision: (tenant: Tenant, id: ApprovalId) => events(tenant, `${id}.dec`),
  use: (tenant: Tenant, id: ApprovalId) => events(tenant, `${id}.use`),
  refusedTry: (tenant: Tenant, id: ApprovalId, who: string, why: string) => events(tenant, `${id}.try.${who}.${why}`),
  step: (tenant: Tenant, id: ApprovalId, n: number) => events(tenant, `${id}.step.${n}`),
  steps: (tenant: Tenant, id: ApprovalId) => events(tenant, `${id}.step.*`),
  /** No person's digest is `policy`. */
  policyFailure: (tenant: Tenant, id: ApprovalId) => events(tenant, `${id}.try.policy.failed`),
  policy: (tenant: Tenant, version: number) => events(tenant, `_.policy.${version}`),
  policies: (tenant: Tenant) => events(tenant, '_.policy.*'),
  freeze: (tenant: Tenant, n: number) => events(tenant, `_.freeze.${n}`),
  freezes: (tenant: Tenant) => events(tenant, '_.freeze.*'),
  issued: (tenant: Tenant, id: TokenId | GrantId) => events(tenant, `${id}.issue`),
  issuedInAnyTenant: (id: TokenId) => events('*', `${id}.issue`),
  over: (tenant: Tenant, id: TokenId | GrantId) => events(tenant, `${id}.over`),
  redemption: (tenant: Tenant, id: GrantId, n: number) => events(tenant, `${id}.red.${n}`),
  redemptions: (tenant: Tenant, id: GrantId) => events(tenant, `${id}.red.*`),
  /** Every fact about one turn, approval, token or grant. */
  story: (tenant: Tenant, id: LeaseKey | TokenId | GrantId) => events(tenant, `${id}.>`),
  /** Every fact of a tenant. */
  everything: (tenant: Tenant) => events(tenant, '>'),
  continuation: (tenant: Tenant, pool: string, turnKey: TurnKey, key: LeaseKey) =>
    `hp.cmd.v1.${EPOCH}.${tenant}.${pool}.${turnKey}.${isApprovalId(key) ? key : 'all'}`,
  continuationInAnyPool: (tenant: Tenant, turnKey: TurnKey, key: LeaseKey) =>
    subjects.continuation(tenant, '*', turnKey, key),
  pool: (tenant: Tenant, pool: string) => `hp.cmd.v1.${EPOCH}.${tenant}.${pool}.>`,
} as const;

export const SYSTEM_TENANT = '_sys' as Tenant;

/** The one subject of a fact. */
export function subjectOf(tenant: Tenant, event: HoldpointEvent): string {
  if (isSetting(event)) return subjectOfSetting(tenant, event);
  const { type, data } = event;
  switch (type) {
    case 'ToolApprovalRequested':
      return subjects.request(tenant, data.turnKey);
    case 'TurnResumed':
    case 'LeaseExtended':
    case 'LeaseGivenBack':
      return subjects.lease(tenant, data.key, data.n);
    case 'TurnEnded':
      return subjects.end(tenant, data.turnKey);
    case 'ToolExecutionSucceeded':
    case 'ToolExecutionFailed':
      return subjects.outcome(tenant, data.approvalId);
    case 'ToolApprovalDecided':
      return subjects.decision(tenant, data.approvalId);
    case 'ToolExecutionStarted':
    case 'ToolApprovalRevoked':
    case 'ToolApprovalLapsed':
      return subjects.use(tenant, data.approvalId);
    case 'ApprovalVoteCast':
    case 'ApprovalVoteWithdrawn':
    case 'ApprovalEscalated':
    case 'ApprovalHoldEnded':
      return subjects.step(tenant, data.approvalId, data.n);
    case 'PolicyEvaluationFailed':
      return subjects.policyFailure(tenant, data.approvalId);
    case 'DecisionRefused':
      return subjects.refusedTry(tenant, data.approvalId, data.who, data.why);
  }
}

function subjectOfSetting(tenant: Tenant, { type, data }: SettingEvent): string {
  switch (type) {
    case 'PolicyPublished':
      return subjects.policy(tenant, data.version);
    case 'FreezeSwitched':
      return subjects.freeze(tenant, data.n);
    case 'GrantIssued':
      return subjects.issued(tenant, data.grantId);
    case 'GrantEnded':
      return subjects.over(tenant, data.grantId);
    case 'GrantRedeemed':
      return subjects.redemption(tenant, data.grantId, data.n);
    case 'TokenIssued':
      return subjects.issued(tenant, data.tokenId);
    case 'TokenRevoked':
      return subjects.over(tenant, data.tokenId);
    case 'LogOpened':
      return subjects.genesis;
  }
}

export const continuationSubject = (tenant: Tenant, { pool, turnKey, key }: ContinueConversation): string =>
  subjects.continuation(tenant, pool, turnKey, key);

/** Which tenant and which id a fact's subject names; for EVENTS subjects only. */
export function placeOf(subject: string): { readonly tenant: Tenant; readonly id: string; readonly kind: string } {
  const [, , , tenant = '', id = '', kind = ''] = subject.split('.');
  return { tenant: tenant as Tenant, id, kind };
}

/** Whose a message is, of either stream. */
export function tenantOf(subject: string): Tenant {
  const [, first, , ofFact = '', ofCommand = ''] = subject.split('.');
  return (first === 'cmd' ? ofCommand : ofFact) as Tenant;
}
