import { availableParallelism, totalmem } from 'node:os';
import { readArguments, type Bench } from './options.js';

/** Each in a module of its own, so that none pays for what another imports. */
const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  loop: async () => (await import('./loop.js')).loop,
  soak: async () => (await import('./soak.js')).soak,
  project: async () => (await import('./project.js')).project,
  replay: async () => (await import('./replay.js')).replay,
  parked: async () => (await import('./parked.js')).parked,
  policy: async () => (await import('./policy.js')).policy,
  simulate: async () => (await import('./simulate.js')).simulate,
  fanout: async () => (await import('./fanout.js')).fanout,
  'unit-costs': async () => (await import('./unit-costs.js')).unitCosts,
  scale: async () => (await import('./scale.js')).scale,
};

const say = (line: object): void => console.log(JSON.stringify(line));

async function main(): Promise<void> {
  const { name, options } = readArguments(process.argv.slice(2));
  const load = BENCHES[name];
  if (!load) throw new Error(`There is no benchmark "${name}"; there are ${Object.keys(BENCHES).join(', ')}`);
  const machine = { cores: availableParallelism(), memoryBytes: totalmem(), node: process.version };
  say({ name, at: new Date().toISOString(), machine, options });
  const bench = await load();
  for await (const line of bench(options)) say({ name, ...line });
}

// Through `exit`, where the servers that were started are ended too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
