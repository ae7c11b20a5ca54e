import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { Callers } from '#service/callers';
import { ApprovalsController } from './approvals/approvals.controller.js';
import { BulkDecisionsController } from './approvals/bulk-decisions.controller.js';
import { ReadApprovals } from './approvals/read-approvals.js';
import type { DueServices } from './continuations/offer-due.js';
import { Offers } from './continuations/offers.js';
import type { Changes } from './live/changes.js';
import { Deciders } from './deciders/deciders.js';
import { FreezesController } from './freezes/freezes.controller.js';
import { Grants } from './grants/grants.js';
import { GrantsController } from './grants/grants.controller.js';
import { Health } from './health/health.js';
import { HealthController } from './health/health.controller.js';
import { OpenApiController } from './http/openapi.controller.js';
import { EventsController } from './operations/events.controller.js';
import { Lists } from './operations/lists.js';
import { ListsController } from './operations/lists.controller.js';
import { PoliciesController } from './policies/policies.controller.js';
import { STREAMS, StreamsController, type Streams } from './streams/streams.controller.js';
import { TokensController } from './tokens/tokens.controller.js';
import { CHANGES } from './turns/await-decision.js';
import { ContinuationsController } from './turns/continuations.controller.js';
import { ReadTaken } from './turns/read-taken.js';
import { ReadTurns } from './turns/read-turns.js';
import { DUE, RedriveController } from './turns/redrive.controller.js';
import { TurnsController } from './turns/turns.controller.js';

export const CONTROLLERS: readonly Type[] = [
  TurnsController,
  RedriveController,
  ContinuationsController,
  ApprovalsController,
  BulkDecisionsController,
  PoliciesController,
  FreezesController,
  GrantsController,
  TokensController,
  ListsController,
  EventsController,
  StreamsController,
  OpenApiController,
  HealthController,
];

/** What the controllers are given. */
export interface Parts {
  readonly deciders: Deciders;
  readonly turns: ReadTurns;
  readonly taken: ReadTaken;
  readonly approvals: ReadApprovals;
  readonly offers: Offers;
  readonly due: DueServices;
  readonly changes: Changes;
  readonly lists: Lists;
  readonly grants: Grants;
  readonly streams: Streams;
  readonly callers: Callers;
  readonly health: Health;
}

export class GatewayModule {
  static of(parts: Parts, more: readonly Provider[] = []): DynamicModule {
    const providers: Provider[] = [
      { provide: Deciders, useValue: parts.deciders },
      { provide: ReadTurns, useValue: parts.turns },
      { provide: ReadTaken, useValue: parts.taken },
      { provide: ReadApprovals, useValue: parts.approvals },
      { provide: Offers, useValue: parts.offers },
      { provide: DUE, useValue: parts.due },
      { provide: CHANGES, useValue: parts.changes },
      { provide: Health, useValue: parts.health },
      { provide: Lists, useValue: parts.lists },
      { provide: Grants, useValue: parts.grants },
      { provide: STREAMS, useValue: parts.streams },
      { provide: Callers, useValue: parts.callers },
      ...more,
    ];
    return { module: GatewayModule, controllers: [...CONTROLLERS], providers };
  }
}
