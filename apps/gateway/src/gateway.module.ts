import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { ApprovalsController } from './approvals/approvals.controller.js';
import { BulkDecisionsController } from './approvals/bulk-decisions.controller.js';
import { ReadApprovals } from './approvals/read-approvals.js';
import { Offers } from './continuations/offers.js';
import { Deciders } from './deciders/deciders.js';
import { Health } from './health/health.js';
import { HealthController } from './health/health.controller.js';
import { OpenApiController } from './http/openapi.controller.js';
import { EventsController } from './operations/events.controller.js';
import { TokensController } from './tokens/tokens.controller.js';
import { CHANGES, type TurnChanges } from './turns/await-decision.js';
import { ContinuationsController } from './turns/continuations.controller.js';
import { ReadTurns } from './turns/read-turns.js';
import { DUE, RedriveController } from './turns/redrive.controller.js';
import { TurnsController } from './turns/turns.controller.js';
import type { DueServices } from './continuations/offer-due.js';

export const CONTROLLERS: readonly Type[] = [
  TurnsController,
  RedriveController,
  ContinuationsController,
  ApprovalsController,
  BulkDecisionsController,
  TokensController,
  EventsController,
  OpenApiController,
  HealthController,
];

/** What the controllers are given. */
export interface Parts {
  readonly deciders: Deciders;
  readonly turns: ReadTurns;
  readonly approvals: ReadApprovals;
  readonly offers: Offers;
  readonly due: DueServices;
  readonly changes: TurnChanges;
  readonly health: Health;
}

export class GatewayModule {
  static of(parts: Parts): DynamicModule {
    const providers: Provider[] = [
      { provide: Deciders, useValue: parts.deciders },
      { provide: ReadTurns, useValue: parts.turns },
      { provide: ReadApprovals, useValue: parts.approvals },
      { provide: Offers, useValue: parts.offers },
      { provide: DUE, useValue: parts.due },
      { provide: CHANGES, useValue: parts.changes },
      { provide: Health, useValue: parts.health },
    ];
    return { module: GatewayModule, controllers: [...CONTROLLERS], providers };
  }
}
