import type { DynamicModule } from '@nestjs/common';
import type { AskedServices } from '#service/answer';
import { FREEZES, FreezesController } from './freezes.controller.js';

export class FreezesModule {
  static with(freezes: AskedServices): DynamicModule {
    return {
      module: FreezesModule,
      controllers: [FreezesController],
      providers: [{ provide: FREEZES, useValue: freezes }],
    };
  }
}
