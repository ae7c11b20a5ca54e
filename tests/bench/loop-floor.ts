import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { connect, headers, nkeyAuthenticator } from '@nats-io/transport-node';
import { EVENTS_STREAM } from '#contracts/subjects';
import { bootstrap } from '#event-log/bootstrap';
import { startTestServers } from '#tools/test-servers';

export interface Floor {
  /** One guarded append of as many bytes as a fact of the product has: published, stored and acknowledged. */
  append(): Promise<void>;
  stop(): Promise<void>;
}

const BODY_BYTES = 900;

/** The same broker with the same streams and the same durability, and nothing between it and the client. */
export async function startFloor(): Promise<Floor> {
  const servers = await startTestServers({});
  await bootstrap({ url: servers.natsUrl, seedFile: join(servers.credsDir, 'bootstrap.nk'), replicas: 1 });
  const seed = readFileSync(join(servers.credsDir, 'orchestrator.nk'));
  const connection = await connect({
    servers: servers.natsUrl,
    authenticator: nkeyAuthenticator(new Uint8Array(seed)),
    inboxPrefix: '_INBOX.orchestrator',
  });
  const client = jetstream(connection);
  const body = new TextEncoder().encode(JSON.stringify({ data: randomBytes(BODY_BYTES / 2).toString('hex') }));
  const expect = { lastSubjectSequence: 0, streamName: EVENTS_STREAM };
  return {
    append: async () => {
      const own = headers();
      for (const name of ['ce-id', 'ce-type', 'ce-source', 'ce-time', 'ce-subject']) own.set(name, randomUUID());
      await client.publish(`hp.v1.e1.floor.tn_${randomUUID()}.req`, body, { headers: own, expect, retries: 0 });
    },
    stop: async () => {
      await connection.close();
      await servers.stop();
    },
  };
}
