import type { DynamicModule } from '@nestjs/common';
import { TOKENS, TokensController, type TokenServices } from './tokens.controller.js';

export class TokensModule {
  static with(tokens: TokenServices): DynamicModule {
    return {
      module: TokensModule,
      controllers: [TokensController],
      providers: [{ provide: TOKENS, useValue: tokens }],
    };
  }
}
