import type { GrantBody } from '#contracts/grants/commands';
import {
  grantIdOfKey,
  indexOfApproval,
  turnKeyOfApproval,
  type ApprovalId,
  type GrantId,
  type Instant,
  type Tenant,
} from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import type { ApprovalStatus } from '#contracts/statuses';
import { subjects } from '#contracts/subjects';
import type { RequestedToolCall } from '#contracts/turns/events';
import { grantStatus, readGrant, type Grant, type GrantEnd, type GrantStatus } from '#fold/grant';
import { readApproval, readTurn } from '#fold/read';
import { approvalStatus } from '#fold/status';
import { conditionError, schemaDigestOf } from '#policy/grants';
import type { PoliciesInForce } from '#policy/in-force';
import { refused, type Refused } from '../http/problem.js';
import type { Lists } from '../operations/lists.js';
import type { ReadTurns } from '../turns/read-turns.js';
import { previewOf, type Preview } from './preview.js';

/** One use: what became of the approval that it was taken for; `void` where that was decided otherwise. */
export interface Redemption {
  readonly n: number;
  readonly approvalId: ApprovalId;
  readonly at: Instant;
  readonly state: ApprovalStatus | 'void';
}

export interface GrantView extends Omit<Grant, 'by' | 'at' | 'usedSeq' | 'end'> {
  readonly status: GrantStatus;
  readonly issuedBy: string;
  readonly issuedAt: Instant;
  readonly end: GrantEnd | null;
  /** The newest first, 100 at most. */
  readonly redemptions: readonly Redemption[];
}

type BoundGrant = GrantBody & Pick<Grant, 'schemaDigest'>;

const NEWEST = 100;

/** Standing decisions as the log has them now. */
export class Grants {
  constructor(
    private readonly turns: ReadTurns,
    private readonly policies: PoliciesInForce,
    private readonly lists: Lists,
  ) {}

  async read({ tenant }: Caller, id: GrantId): Promise<GrantView> {
    const grant = await readGrant(this.turns.log, tenant, id);
    if (!grant) throw refused('not-found', 'There is no grant with this id');
    const { by: issuedBy, at: issuedAt, usedSeq, end, ...shown } = grant;
    const seq = Math.max(grant.seq, usedSeq, end?.seq ?? 0);
    const numbers = Array.from({ length: Math.min(NEWEST, grant.used) }, (__, at) => grant.used - at);
    const redemptions = await Promise.all(numbers.map((n) => this.redemption(tenant, id, n)));
    const status = grantStatus(grant, this.turns.now());
    return { ...shown, seq, status, issuedBy, issuedAt, end: end ?? null, redemptions: redemptions.flat() };
  }

  /** With what the grant is bound to where the body does not say; asked for again under the same key, to the same. */
  async terms(caller: Caller, body: GrantBody, idempotencyKey?: string): Promise<BoundGrant> {
    const { scope, schemaDigest } = body;
    const wrong = conditionError(scope);
    if (wrong !== undefined) throw notValid('scope.when', wrong);
    return { ...body, schemaDigest: schemaDigest ?? (await this.schemaDigestFor(caller, body, idempotencyKey)) };
  }

  private async schemaDigestFor(caller: Caller, { scope }: GrantBody, idempotencyKey?: string): Promise<string> {
    const { tenant, subject } = caller;
    const before = idempotencyKey === undefined ? undefined : grantIdOfKey(tenant, subject, idempotencyKey);
    const issued = before && (await readGrant(this.turns.log, tenant, before));
    if (issued) return issued.schemaDigest;
    const [newest] = await this.lists.newestCalls(caller, 1, scope);
    const call = newest && (await this.callOf(caller, newest));
    if (call) return schemaDigestOf(call);
    throw notValid('schemaDigest', 'must be said where no call of this tool is on record');
  }

  async preview(caller: Caller, body: GrantBody): Promise<Preview> {
    const { scope, schemaDigest } = await this.terms(caller, body);
    const grant = { scope, schemaDigest, by: caller.subject, groups: caller.groups };
    const looking = { log: this.turns.log, policies: this.policies };
    return previewOf(looking, caller, grant, await this.lists.newestCalls(caller, NEWEST));
  }

  private async callOf({ tenant }: Caller, id: ApprovalId): Promise<RequestedToolCall | undefined> {
    const turn = await readTurn(this.turns.log, tenant, turnKeyOfApproval(id));
    return turn.state === 'unknown' ? undefined : turn.request.toolCalls[indexOfApproval(id)];
  }

  private async redemption(tenant: Tenant, grantId: GrantId, n: number): Promise<readonly Redemption[]> {
    const { log } = this.turns;
    const fact = await log.last(subjects.redemption(tenant, grantId, n));
    if (fact?.event.type !== 'GrantRedeemed') return [];
    const { approvalId } = fact.event.data;
    const [turn, approval] = await Promise.all([
      readTurn(log, tenant, turnKeyOfApproval(approvalId)),
      readApproval(log, tenant, approvalId),
    ]);
    const { decision } = approval;
    const isVoid = decision !== undefined && (decision.grant?.grantId !== grantId || decision.grant.n !== n);
    const state = isVoid || turn.state === 'unknown' ? 'void' : approvalStatus(turn, approval, this.turns.now());
    return [{ n, approvalId, at: fact.occurredAt, state }];
  }
}

const notValid = (path: string, message: string): Refused =>
  refused('invalid-input', `The body is not valid: ${path} ${message}`, { errors: [{ path, message }] });
