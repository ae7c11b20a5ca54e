import { Body, Controller } from '@nestjs/common';
import { BulkDecisions, type BulkDecisionItem } from '#contracts/approvals/commands';
import { isApprovalId, shortDigest } from '#contracts/ids';
import { From, type Asker } from '../auth/asker.js';
import type { Credentials } from '../auth/credentials.js';
import { Deciders } from '../deciders/deciders.js';
import { concurrently } from './concurrently.js';
import { On } from '../http/on.js';
import { problemOf, Refused, type Problem } from '../http/problem.js';

const AT_ONCE = 16;

interface BulkResult {
  readonly approvalId: string;
  readonly verdict: 'counted' | 'duplicate' | 'superseded' | 'late' | 'refused';
  readonly seq?: number;
  readonly problem?: Problem;
}

/** Each decision on its own: one that is refused leaves the others as they are. */
@Controller()
export class BulkDecisionsController {
  constructor(private readonly deciders: Deciders) {}

  @On('decideMany')
  async decide(
    @From() { credentials }: Asker,
    @Body() { items }: BulkDecisions,
  ): Promise<{ items: readonly BulkResult[]; seq: number }> {
    const results = await concurrently(AT_ONCE, items, (item) => this.decideOne(credentials, item));
    return { items: results, seq: Math.max(0, ...results.map(({ seq = 0 }) => seq)) };
  }

  private async decideOne(credentials: Credentials, item: BulkDecisionItem): Promise<BulkResult> {
    const { approvalId } = item;
    if (!isApprovalId(approvalId))
      return refusedItem(approvalId, new Refused({ reason: 'not-found', detail: 'There is no such approval' }));
    try {
      return {
        approvalId,
        ...(await this.deciders.approvals('DecideApproval', ofItem(credentials, approvalId), item)),
      };
    } catch (error) {
      if (error instanceof Refused) return refusedItem(approvalId, error);
      throw error;
    }
  }
}

/** One key for the whole request becomes one for each item, so that all of it can be sent again. */
const ofItem = (credentials: Credentials, approvalId: string): Credentials =>
  credentials.idempotencyKey === undefined
    ? credentials
    : { ...credentials, idempotencyKey: shortDigest('bulk', credentials.idempotencyKey, approvalId) };

function refusedItem(approvalId: string, { refusal }: Refused): BulkResult {
  const { reason } = refusal;
  return {
    approvalId,
    verdict: reason === 'superseded' || reason === 'late' ? reason : 'refused',
    problem: problemOf(refusal),
  };
}
