import type { DynamicModule } from '@nestjs/common';
import type { AskedServices } from '#service/answer';
import { TOKENS, TokensController } from './tokens.controller.js';

export class TokensModule {
  static with(tokens: AskedServices): DynamicModule {
    return {
      module: TokensModule,
      controllers: [TokensController],
      providers: [{ provide: TOKENS, useValue: tokens }],
    };
  }
}
