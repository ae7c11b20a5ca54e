import type { GrantId, Instant } from './ids.js';
import type { Refusal } from './refusals.js';

/** The two services that decide, and what each may be asked: request/reply subjects `hp.rpc.v1.<service>.<command>`. */
export const ORCHESTRATOR_COMMANDS = [
  'OpenTurn',
  'ResumeTurn',
  'ExtendLease',
  'GiveBackLease',
  'ReportOutcome',
  'SettleExecution',
  'EndTurn',
  'CancelTurn',
  'PreparePool',
  'Health',
] as const;
export const APPROVAL_COMMANDS = [
  'DecideApproval',
  'WithdrawVote',
  'UseApproval',
  'RevokeApproval',
  'CloseTurnApprovals',
  'PublishPolicy',
  'SwitchFreeze',
  'IssueGrant',
  'EndGrant',
  'IssueToken',
  'RevokeToken',
  'UnparkApproval',
  'Health',
] as const;
export type OrchestratorCommand = (typeof ORCHESTRATOR_COMMANDS)[number];
export type ApprovalCommand = (typeof APPROVAL_COMMANDS)[number];

export const rpcSubject = {
  orchestrator: (command: OrchestratorCommand) => `hp.rpc.v1.orchestrator.${command}`,
  'approval-service': (command: ApprovalCommand) => `hp.rpc.v1.approval-service.${command}`,
} as const;

/** What the gateway asks. It passes the caller's token on: the deciding service checks it itself. */
export interface Ask<Body = unknown> {
  readonly token: string;
  /** `Holdpoint-Tenant`: heeded for the admin token only. */
  readonly tenant?: string;
  readonly idempotencyKey?: string;
  readonly traceparent?: string;
  readonly body: Body;
}

/** A command's result: small by design, whatever can be large is read from the log by the gateway. */
export type Reply<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly refusal: Refusal };

export const reply = <Value>(value: Value): Reply<Value> => ({ ok: true, value });
export const declined = (refusal: Refusal): Reply<never> => ({ ok: false, refusal });

export interface TurnOpened {
  readonly turnId: string;
  readonly created: boolean;
  readonly seq: number;
}
export interface LeaseTaken {
  readonly attempt: number;
  readonly leaseUntil: string;
  readonly seq: number;
}
/** `recorded` is false where it was so already: nothing was written. */
export interface Done {
  readonly seq: number;
  readonly recorded: boolean;
}
export interface Decided {
  readonly verdict: 'counted' | 'duplicate';
  readonly seq: number;
  /** Where votes are counted: approvals of those that are nearest to enough, or denials where this was one. */
  readonly votes?: { readonly have: number; readonly need: number };
}
export interface PolicyMade {
  readonly version: number;
  readonly hash: string;
  readonly seq: number;
}
export interface GrantMade {
  readonly grantId: GrantId;
  readonly expiresAt: Instant;
  readonly maxUses: number;
  readonly schemaDigest: string;
  readonly seq: number;
}
export interface TokenMade {
  readonly id: string;
  readonly token: string;
  readonly tenant: string;
  readonly expiresAt?: string;
  readonly seq: number;
}
