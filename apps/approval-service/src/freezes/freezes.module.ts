import type { DynamicModule } from '@nestjs/common';
import { FREEZES, FreezesController, type FreezeServices } from './freezes.controller.js';

export class FreezesModule {
  static with(freezes: FreezeServices): DynamicModule {
    return {
      module: FreezesModule,
      controllers: [FreezesController],
      providers: [{ provide: FREEZES, useValue: freezes }],
    };
  }
}
