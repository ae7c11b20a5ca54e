// @ts-check
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Makes the log where there is none yet, and refuses one that differs.
 * @param {{ natsUrl: string, natsCredsDir: string, natsCa?: string | undefined, replicas?: number }} broker
 */
export async function bootstrapLog({ natsUrl, natsCredsDir, natsCa, replicas }) {
  const [{ bootstrap }, { replicasOf }] = await Promise.all([
    import(new URL('../dist/libs/event-log/src/bootstrap.js', import.meta.url).href),
    import('./start/outside.mjs'),
  ]);
  await bootstrap({
    url: natsUrl,
    seedFile: join(natsCredsDir, 'bootstrap.nk'),
    replicas: replicas ?? (await replicasOf(natsUrl)),
    ...(natsCa === undefined ? {} : { ca: natsCa }),
  });
}

/** By itself, as the containers do it: the settings are those of the services. */
async function main() {
  const { readSettings } = await import('./settings.mjs');
  const { natsUrl, natsCredsDir, natsCa } = readSettings(process.env);
  if (!natsUrl || !natsCredsDir)
    throw new Error('HOLDPOINT_NATS_URL and HOLDPOINT_NATS_CREDS_DIR say where the log is to be made.');
  await bootstrapLog({ natsUrl, natsCredsDir, natsCa });
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1] ?? '')).href)
  main().catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
