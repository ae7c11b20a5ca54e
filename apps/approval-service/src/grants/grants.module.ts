import type { DynamicModule } from '@nestjs/common';
import type { AskedServices } from '#service/answer';
import { background } from '#service/background';
import type { Service } from '#service/run-service';
import { reactions } from '../reactions.js';
import { whenApprovalDecidedThenIssueGrant } from './automations/when-approval-decided-then-issue-grant.js';
import { GRANTS, GrantsController } from './grants.controller.js';

export class GrantsModule {
  static with(service: Pick<Service, 'logger' | 'stopping'>, grants: AskedServices): DynamicModule {
    return {
      module: GrantsModule,
      controllers: [GrantsController],
      providers: [
        { provide: GRANTS, useValue: grants },
        background(service, reactions(grants.log, service.logger, [whenApprovalDecidedThenIssueGrant(grants)])),
      ],
    };
  }
}
