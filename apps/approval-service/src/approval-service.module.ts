import type { DynamicModule } from '@nestjs/common';
import { background } from '#service/background';
import type { Service } from '#service/run-service';
import { ApprovalsModule } from './approvals/approvals.module.js';
import { FreezesModule } from './freezes/freezes.module.js';
import { GrantsModule } from './grants/grants.module.js';
import { PoliciesModule } from './policies/policies.module.js';
import { startProjector } from './projections/projections.js';
import { TokensModule } from './tokens/tokens.module.js';

/** Owns approvals, policies, freezes, grants and tokens, and projects the log. Starts and decides whether Postgres is there or not. */
export class ApprovalServiceModule {
  static with(service: Service): DynamicModule {
    const { broker, settings, callers, logger, stopping } = service;
    const { databaseUrl } = settings;
    const asked = { log: broker.events, clock: broker.clock, callers };
    const projector = startProjector({ ...asked, databaseUrl, logger, signal: stopping });
    return {
      module: ApprovalServiceModule,
      imports: [
        ApprovalsModule.with(service, projector),
        PoliciesModule.with({ ...asked, denials: projector.denials }),
        FreezesModule.with(asked),
        GrantsModule.with(service, asked),
        TokensModule.with(asked),
      ],
      providers: [background(service, [{ name: 'projector', run: () => projector.finished }])],
    };
  }
}
