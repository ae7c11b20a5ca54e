import { Controller } from '@nestjs/common';
import { On } from '../http/on.js';
import { Health } from './health.js';

@Controller()
export class HealthController {
  constructor(private readonly health: Health) {}

  @On('ready')
  ready(): Promise<object> {
    return this.health.check();
  }

  @On('healthy')
  healthy(): object {
    return { status: 'ok' };
  }
}
