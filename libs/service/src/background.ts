import type { OnApplicationBootstrap, OnModuleDestroy, Provider } from '@nestjs/common';
import { keepRunning } from '#automation/keep-running';
import type { Service } from './run-service.js';

/** What goes on as long as the service does: automations, the sweep, the projector. */
export interface Loop {
  readonly name: string;
  /** Works until aborted; begun again where it breaks. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Begins its loops when the service can answer, and waits for them when it is to stop. */
export class Background implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly closing = new AbortController();
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly loops: readonly Loop[],
    private readonly service: Pick<Service, 'logger' | 'stopping'>,
  ) {}

  onApplicationBootstrap(): void {
    const { logger, stopping } = this.service;
    const signal = AbortSignal.any([stopping, this.closing.signal]);
    const keep = ({ name, run }: Loop) =>
      keepRunning(
        { run, broke: (error) => logger.error({ err: error, loop: name }, 'broke, and is begun again') },
        signal,
      );
    this.running = Promise.all(this.loops.map(keep));
  }

  async onModuleDestroy(): Promise<void> {
    this.closing.abort();
    await this.running;
  }
}

export const background = (service: Pick<Service, 'logger' | 'stopping'>, loops: readonly Loop[]): Provider => ({
  provide: Symbol('background'),
  useValue: new Background(loops, service),
});
