import type { DynamicModule } from '@nestjs/common';
import { PoliciesController, POLICIES, type PolicyServices } from './policies.controller.js';

export class PoliciesModule {
  static with(policies: PolicyServices): DynamicModule {
    return {
      module: PoliciesModule,
      controllers: [PoliciesController],
      providers: [{ provide: POLICIES, useValue: policies }],
    };
  }
}
