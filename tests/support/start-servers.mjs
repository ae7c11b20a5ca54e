import { startTestServers } from '../../tools/test-servers.mjs';

/** Real servers for the integration and e2e tests: one NATS server, three more as a cluster, one Postgres. */
export default async function startServers() {
  const servers = await startTestServers({ cluster: true });
  globalThis.holdpointTestServers = servers;
  Object.assign(process.env, {
    HOLDPOINT_TEST_NATS_URL: servers.natsUrl,
    HOLDPOINT_TEST_CLUSTER_URLS: servers.clusterUrls.join(','),
    HOLDPOINT_TEST_NATS_CREDS_DIR: servers.credsDir,
    HOLDPOINT_TEST_DATABASE_URL: servers.databaseUrl,
  });
}
