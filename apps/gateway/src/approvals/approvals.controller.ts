import { Body, Controller, Param } from '@nestjs/common';
import { DecisionBody, RevokeBody, UseBody } from '#contracts/approvals/commands';
import type { ApprovalId } from '#contracts/ids';
import type { Decided } from '#contracts/rpc';
import { OutcomeBody, SettleBody } from '#contracts/turns/commands';
import { From, type Asker } from '../auth/asker.js';
import { Deciders } from '../deciders/deciders.js';
import { On } from '../http/on.js';
import type { ApprovalView } from './approval-view.js';
import { ReadApprovals } from './read-approvals.js';

@Controller()
export class ApprovalsController {
  constructor(
    private readonly deciders: Deciders,
    private readonly approvals: ReadApprovals,
  ) {}

  @On('readApproval')
  read(@From() { caller }: Asker, @Param('approvalId') id: ApprovalId): Promise<ApprovalView> {
    return this.approvals.whole(caller, id);
  }

  @On('decide')
  async decide(
    @From() { caller, credentials }: Asker,
    @Param('approvalId') approvalId: ApprovalId,
    @Body() body: DecisionBody,
  ): Promise<Decided & { approval: ApprovalView }> {
    const decided = await this.deciders.approvals('DecideApproval', credentials, { ...body, approvalId });
    return { ...decided, approval: await this.approvals.after(caller, approvalId, decided.seq) };
  }

  @On('withdrawVote')
  async withdraw(@From() { credentials }: Asker, @Param('approvalId') approvalId: ApprovalId): Promise<object> {
    const { seq } = await this.deciders.approvals('WithdrawVote', credentials, { approvalId });
    return { withdrawn: true, seq };
  }

  @On('revoke')
  async revoke(
    @From() { credentials }: Asker,
    @Param('approvalId') approvalId: ApprovalId,
    @Body() body: RevokeBody,
  ): Promise<object> {
    const { seq } = await this.deciders.approvals('RevokeApproval', credentials, { ...body, approvalId });
    return { revoked: true, seq };
  }

  @On('use')
  async use(
    @From() { credentials }: Asker,
    @Param('approvalId') approvalId: ApprovalId,
    @Body() body: UseBody,
  ): Promise<object> {
    const { seq } = await this.deciders.approvals('UseApproval', credentials, { ...body, approvalId });
    return { approvalId, attempt: body.attempt, seq };
  }

  @On('reportOutcome')
  async report(
    @From() { credentials }: Asker,
    @Param('approvalId') approvalId: ApprovalId,
    @Body() body: OutcomeBody,
  ): Promise<object> {
    const { seq, recorded } = await this.deciders.orchestrator('ReportOutcome', credentials, { ...body, approvalId });
    return { approvalId, recorded, seq };
  }

  @On('settle')
  async settle(
    @From() { credentials }: Asker,
    @Param('approvalId') approvalId: ApprovalId,
    @Body() body: SettleBody,
  ): Promise<object> {
    const { seq, recorded } = await this.deciders.orchestrator('SettleExecution', credentials, { ...body, approvalId });
    return { settled: true, recorded, seq };
  }
}
