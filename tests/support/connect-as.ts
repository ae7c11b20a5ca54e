import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node';

export interface As {
  readonly url: string;
  /** Whose key: a service's, or that of one who only looks. */
  readonly identity: string;
  readonly credsDir: string;
}

/** On the broker as one of its identities, with the key that was made for it. */
export const connectAs = ({ url, identity, credsDir }: As): Promise<NatsConnection> =>
  connect({
    servers: url.split(','),
    authenticator: nkeyAuthenticator(
      new TextEncoder().encode(readFileSync(join(credsDir, `${identity}.nk`), 'utf8').trim()),
    ),
    inboxPrefix: `_INBOX.${identity}`,
    name: identity,
    timeout: 2_000,
    waitOnFirstConnect: true,
    maxReconnectAttempts: 100,
  });
