import { SERVICES, World, type ServiceName } from '../support/world.js';
import { PROBED } from './heaps.js';
import { MeasuredBroker } from './measured-broker.js';
import { cpuSecondsOf, cpuSecondsOfFamily, socketsOf } from './processes.js';
import type { Service } from './scale-model.js';

/** The whole product, each part of which says what it holds. */
export class MeasuredWorld {
  private constructor(
    readonly world: World,
    readonly broker: MeasuredBroker,
  ) {}

  static async start(): Promise<MeasuredWorld> {
    const world = await World.start({ env: PROBED });
    const broker = await MeasuredBroker.insteadOf(world.servers);
    await world.ready();
    return new MeasuredWorld(world, broker);
  }

  gatewaySockets = (): number => socketsOf(this.pidOf('gateway'));

  cpuSeconds(): Record<Service, number> {
    const [gateway, orchestrator, approvals] = (['gateway', 'orchestrator', 'approval-service'] as const).map((name) =>
      cpuSecondsOf(this.pidOf(name)),
    );
    const postgres = cpuSecondsOfFamily(this.world.servers.postgres.pid());
    const broker = cpuSecondsOf(this.broker.pid);
    return {
      gateway: gateway ?? 0,
      orchestrator: orchestrator ?? 0,
      'approval-service': approvals ?? 0,
      broker,
      postgres,
    };
  }

  async stop(): Promise<void> {
    await Promise.all(SERVICES.map((name) => this.world.kill(name)));
    await this.world.stop();
    await this.broker.stop();
  }

  private pidOf(name: ServiceName): number {
    const { pid } = this.world.process(name);
    if (pid === undefined) throw new Error(`${name} did not start`);
    return pid;
  }
}
