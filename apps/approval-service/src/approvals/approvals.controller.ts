import { Controller, Inject } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import {
  CloseTurnApprovals,
  DecideApproval,
  RevokeApproval,
  UnparkApproval,
  UseApproval,
  WithdrawVote,
} from '#contracts/approvals/commands';
import { rpcSubject, type Ask, type Decided, type Done, type Reply } from '#contracts/rpc';
import { answer } from '#service/answer';
import { APPROVALS, type ApprovalServices } from './approval-services.js';
import { closeTurnApprovals } from './close-turn-approvals.js';
import { decide, revoke, use, withdraw } from './handlers.js';
import { health } from '#service/health';
import { unparkApproval } from './unpark.js';

const named = rpcSubject['approval-service'];

const DECIDE = { shape: DecideApproval, roles: ['approver'], actorKind: 'person' } as const;
const WITHDRAW = { shape: WithdrawVote, roles: ['approver'], actorKind: 'person' } as const;
const REVOKE = { shape: RevokeApproval, roles: ['approver'], actorKind: 'person' } as const;
const USE = { shape: UseApproval, roles: ['agent'], actorKind: 'agent' } as const;
/** Any good token: the end of the turn is in the log or it is not, whoever asks. */
const CLOSE = { shape: CloseTurnApprovals, roles: [], actorKind: 'service' } as const;
const UNPARK = { shape: UnparkApproval, roles: ['operator'], actorKind: 'person' } as const;

@Controller()
export class ApprovalsController {
  constructor(@Inject(APPROVALS) private readonly approvals: ApprovalServices) {}

  @MessagePattern(named('DecideApproval'))
  decide(@Payload() ask: Ask): Promise<Reply<Decided>> {
    return answer(this.approvals.callers, DECIDE, ask, ({ request }) => decide(this.approvals, request));
  }

  @MessagePattern(named('WithdrawVote'))
  withdraw(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.approvals.callers, WITHDRAW, ask, ({ request }) => withdraw(this.approvals, request));
  }

  @MessagePattern(named('RevokeApproval'))
  revoke(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.approvals.callers, REVOKE, ask, ({ request }) => revoke(this.approvals, request));
  }

  @MessagePattern(named('UseApproval'))
  use(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.approvals.callers, USE, ask, ({ request }) => use(this.approvals, request));
  }

  @MessagePattern(named('CloseTurnApprovals'))
  close(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.approvals.callers, CLOSE, ask, ({ command, caller }) =>
      closeTurnApprovals(this.approvals, caller.tenant, command.turnKey),
    );
  }

  @MessagePattern(named('UnparkApproval'))
  unpark(@Payload() ask: Ask): Promise<Reply<Done>> {
    return answer(this.approvals.callers, UNPARK, ask, ({ command, caller }) =>
      unparkApproval(this.approvals.unpark, caller.tenant, command.approvalId),
    );
  }

  @MessagePattern(named('Health'))
  health(): Promise<Reply<{ readonly ok: true }>> {
    return health(this.approvals);
  }
}
