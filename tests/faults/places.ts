import { connectAs } from '../support/connect-as.js';
import { eventually, SERVICES, World, type ServiceName } from '../support/world.js';
import { Proxy, type Passage } from './proxy.js';
import { LEASE_SECONDS } from './timing.js';
import type { Setup } from './plan.js';

/** A world, and what stands between its parts. */
export interface Place {
  readonly world: World;
  /** Between one service and the broker. */
  link(service: string, passage: Passage): void;
  /** Between one of the three brokers and the two others. */
  isolate(index: number, passage: Passage): void;
  close(): Promise<void>;
}

export interface PlaceOptions {
  readonly cluster: boolean;
  readonly dist: string | undefined;
  readonly setup: Setup;
  /** Where the broker has its files. */
  readonly natsDir?: string;
}

export async function openPlace({ cluster, dist, setup, natsDir }: PlaceOptions): Promise<Place> {
  const links = new Map<string, Proxy>();
  const routes: { readonly from: number; readonly to: number; readonly proxy: Proxy }[] = [];
  let brokerPort = 0;
  if (setup === 'proxied' && !cluster)
    for (const name of SERVICES) links.set(name, await Proxy.listen(() => brokerPort));
  const between = async (from: number, to: number, port: number) => {
    const proxy = await Proxy.listen(() => port);
    routes.push({ from, to, proxy });
    return proxy.port;
  };
  const natsUrlFor = (name: ServiceName, url: string) => {
    brokerPort = Number(new URL(url.split(',')[0] ?? '').port);
    const link = links.get(name);
    return link ? `nats://127.0.0.1:${link.port}` : url;
  };
  const world = await World.start({
    cluster,
    ...(dist === undefined ? {} : { dist }),
    env: { HOLDPOINT_LEASE_SECONDS: String(LEASE_SECONDS), HOLDPOINT_LOG_LEVEL: 'info' },
    natsUrlFor,
    servers: { ...(cluster && setup === 'proxied' ? { between } : {}), ...(natsDir ? { natsDir } : {}) },
  });
  return {
    world,
    link: (service, passage) => links.get(service)?.let(passage),
    isolate: (index, passage) =>
      routes.filter(({ from, to }) => from === index || to === index).forEach(({ proxy }) => proxy.let(passage)),
    close: async () => {
      await world.stop();
      for (const proxy of [...links.values(), ...routes.map(({ proxy }) => proxy)]) proxy.close();
    },
  };
}

/** Which of the three leads the log now. */
export async function leaderOf(world: World): Promise<number> {
  return eventually(async () => {
    const { natsUrl: url, servers } = world;
    const connection = await connectAs({ url, identity: 'operator', credsDir: servers.credsDir });
    try {
      const answer = await connection.request('$JS.API.STREAM.INFO.EVENTS', '', { timeout: 2_000 });
      const { cluster } = answer.json<{ cluster?: { leader?: string } }>();
      const index = world.servers.clusterNats.findIndex(({ name }) => name === cluster?.leader);
      if (index < 0) throw new Error(`Nobody leads: ${answer.string()}`);
      return index;
    } finally {
      await connection.close();
    }
  }, 180_000);
}
