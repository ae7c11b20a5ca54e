import type { Service } from '#service/run-service';
import type { Deciders } from '../deciders/deciders.js';
import { refused } from '../http/problem.js';

const LOG_WAIT_MS = 2_000;

/** Whether decisions can be taken; says what is missing where they cannot. */
export class Health {
  constructor(
    private readonly broker: Service['broker'],
    private readonly deciders: Deciders,
  ) {}

  async check(): Promise<{ readonly status: 'ready' }> {
    const asked = await Promise.all([this.service('orchestrator'), this.service('approval-service'), this.log()]);
    const missing = [...asked.flat(), ...this.clock()];
    if (missing.length > 0) throw refused('unavailable', `Not ready: ${missing.join('; ')}`);
    return { status: 'ready' };
  }

  private async service(name: 'orchestrator' | 'approval-service'): Promise<readonly string[]> {
    return (await this.deciders.answers(name)) ? [] : [`${name} does not answer`];
  }

  private async log(): Promise<readonly string[]> {
    const answered = this.broker.events.state().then(
      () => true,
      () => false,
    );
    return (await Promise.race([answered, afterMs(LOG_WAIT_MS)])) ? [] : ['the log does not answer'];
  }

  private clock(): readonly string[] {
    return this.broker.clockIsAstray() ? ["this service's clock is more than 2 s away from the log's"] : [];
  }
}

const afterMs = (ms: number): Promise<false> => new Promise((resolve) => setTimeout(() => resolve(false), ms).unref());
