import type { DynamicModule } from '@nestjs/common';
import { PoliciesInForce } from '#policy/in-force';
import { background, type Loop } from '#service/background';
import type { Logger } from '#service/logger';
import type { Broker } from '#service/broker';
import type { Service } from '#service/run-service';
import { APPROVALS, type ApprovalServices, type JudgingServices } from './approval-services.js';
import { ApprovalsController } from './approvals.controller.js';
import { atMostOnceAMinute } from '../at-most-once-a-minute.js';
import { reactions } from '../reactions.js';
import type { DueReader } from '../projections/due/due.query.js';
import type { ReadPrecedents } from '../projections/precedents/precedents.query.js';
import { runSweep, type SweepReport } from './automations/sweep.js';
import { whenApprovalRequestedThenApplyPolicy } from './automations/when-approval-requested-then-apply-policy.js';
import { whenApprovalRequestedThenFollowPrecedent } from './automations/when-approval-requested-then-follow-precedent.js';
import { whenGrantEndedThenRevokeApprovals } from './automations/when-grant-ended-then-revoke-approvals.js';
import { whenTurnEndedThenCloseApprovals } from './automations/when-turn-ended-then-close-approvals.js';
import { refusedTryMetrics } from './refused-try-metrics.js';
import type { Unpark } from './unpark.js';

/** What the read model gives; without it decisions go on. */
export interface ReadModel {
  readonly due: DueReader;
  readonly precedents: ReadPrecedents;
  readonly unpark: Unpark;
}

/** Of the service, what approvals need. */
type Around = Pick<Service, 'callers' | 'logger' | 'stopping'> & { readonly broker: Pick<Broker, 'events' | 'clock'> };

export class ApprovalsModule {
  static with(service: Around, { due, precedents, unpark }: ReadModel): DynamicModule {
    const { broker, callers, logger } = service;
    const { events: log, clock } = broker;
    const judging: JudgingServices = { log, clock, policies: new PoliciesInForce(log) };
    const approvals: ApprovalServices = { ...judging, callers, unpark, refusedTries: refusedTryMetrics(logger) };
    return {
      module: ApprovalsModule,
      controllers: [ApprovalsController],
      providers: [
        { provide: APPROVALS, useValue: approvals },
        background(service, [
          ...reactions(log, logger, [
            whenTurnEndedThenCloseApprovals(judging),
            whenApprovalRequestedThenApplyPolicy(judging),
            whenApprovalRequestedThenFollowPrecedent({ ...judging, precedents }),
            whenGrantEndedThenRevokeApprovals(judging),
          ]),
          sweep(judging, due, logger),
        ]),
      ],
    };
  }
}

function sweep(services: JudgingServices, due: DueReader, logger: Logger): Loop {
  const report: SweepReport = {
    paused: atMostOnceAMinute((error) =>
      logger.error({ err: error }, 'deadlines are not swept: the log or the read model is away'),
    ),
    failed: ({ approvalId, what }, error) =>
      logger.error({ err: error, approvalId, what }, 'a deadline could not be written'),
  };
  return { name: 'sweep', run: (signal) => runSweep({ ...services, due, report }, signal) };
}
