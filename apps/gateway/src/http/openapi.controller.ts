import { Controller } from '@nestjs/common';
import { On } from './on.js';
import { openApiDocument } from './openapi.js';

const API_VERSION = '1';

@Controller()
export class OpenApiController {
  private readonly document = openApiDocument(API_VERSION);

  @On('openApi')
  read(): object {
    return this.document;
  }
}
