import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, headers as natsHeaders, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { bootstrap } from '#event-log/bootstrap';
import { identityNames } from '../../deploy/nats/permissions.mjs';
import { startTestServers } from '#tools/test-servers';

export interface Streams {
  readonly config: unknown;
  readonly messages: number;
  readonly last: number;
  readonly deleted: number;
}

/** A broker with its streams, and a connection as each identity there is: what whoever steals a key could do. */
export async function openIdentities(cluster: boolean) {
  const servers = await startTestServers({ cluster });
  const { credsDir } = servers;
  const url = cluster ? servers.clusterUrls.join(',') : servers.natsUrl;
  await bootstrap({ url, seedFile: join(credsDir, 'bootstrap.nk'), replicas: cluster ? 3 : 1 });
  const connections = new Map<string, NatsConnection>();
  for (const identity of identityNames) connections.set(identity, await connectAs({ url, identity, credsDir }));
  const close = async () => {
    for (const connection of connections.values()) await connection.close();
    await servers.stop();
  };
  const as = (identity: string): NatsConnection => {
    const connection = connections.get(identity);
    if (!connection) throw new Error(`No connection for ${identity}`);
    return connection;
  };
  return { as, close, ...looking(as('operator')) };
}

export type Identities = Awaited<ReturnType<typeof openIdentities>>;

export const connectAs = ({ url, identity, credsDir }: { url: string; identity: string; credsDir: string }) =>
  connect({
    servers: url.split(','),
    authenticator: nkeyAuthenticator(
      new TextEncoder().encode(readFileSync(join(credsDir, `${identity}.nk`), 'utf8').trim()),
    ),
    inboxPrefix: `_INBOX.${identity}`,
    name: identity,
  });

function looking(operator: NatsConnection) {
  const ask = async (call: string, body: object = {}): Promise<Record<string, any>> =>
    (await operator.request(`$JS.API.${call}`, JSON.stringify(body), { timeout: 5_000 })).json();
  const stored = async (subject: string): Promise<boolean> => {
    const stream = subject.startsWith('hp.cmd') ? 'COMMANDS' : 'EVENTS';
    return (await ask(`STREAM.MSG.GET.${stream}`, { last_by_subj: subject }))['error'] === undefined;
  };
  const streamOf = async (name: 'EVENTS' | 'COMMANDS'): Promise<Streams> => {
    const { config, state } = await ask(`STREAM.INFO.${name}`);
    return { config, messages: state.messages, last: state.last_seq, deleted: state.num_deleted ?? 0 };
  };
  const streams = async () => ({ EVENTS: await streamOf('EVENTS'), COMMANDS: await streamOf('COMMANDS') });
  return { stored, streams };
}

/** Publishes and waits a moment for an answer; there may be none. */
export async function publish(
  from: NatsConnection,
  subject: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  const headers = natsHeaders();
  for (const [name, value] of Object.entries(fields)) headers.set(name, value);
  await from.request(subject, '{}', { timeout: 400, headers }).catch(() => undefined);
}

let count = 0;
/** Ids that nobody else has, so that a slot is surely free. */
export const fresh = (): string => `x${(count += 1)}`;

/** A free subject of a kind of fact. */
export const subjectOf = (kind: string): string =>
  kind.replace('hp.cmd.v1.>', `hp.cmd.v1.e1.sec.pool.tn_${fresh()}.all`).replace(/\*/g, fresh);
