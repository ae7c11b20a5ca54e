// @ts-check
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { headers, connect, nkeyAuthenticator } from '@nats-io/transport-node';
import { factSubjects, identities } from '../../deploy/nats/permissions.mjs';
import { serverInfo } from '../servers/nats.mjs';
import { Unable, until } from '../servers/processes.mjs';

const OLDEST_POSTGRES = 150_000;
const CONNECT_MS = 10_000;
const WRITERS = ['orchestrator', 'approval-service', 'gateway'];
/** No stream has this name: where the broker would let the fact through, it refuses it for this instead, and nothing is stored. */
const NOWHERE = 'NOT-A-STREAM-OF-HOLDPOINT';

/** One copy of the log on one server, three on a cluster. @param {string} natsUrl */
export async function replicasOf(natsUrl) {
  const { hostname, port } = new URL(natsUrl.split(',')[0] ?? natsUrl);
  const info = await serverInfo(Number(port || 4222), hostname);
  return info?.cluster ? 3 : 1;
}

/**
 * A broker that lets everybody write everything would make every decision forgeable: such a one is refused.
 * @param {{ natsUrl: string, natsCredsDir: string, natsCa: string | undefined }} broker
 */
export async function checkPermissions(broker) {
  for (const name of WRITERS) await checkIdentity(name, broker);
}

/** @param {string} name @param {{ natsUrl: string, natsCredsDir: string, natsCa: string | undefined }} broker */
async function checkIdentity(name, broker) {
  const connection = await connectAs(name, broker);
  try {
    for (const kind of foreignKinds(name))
      if (!(await isDenied(connection, kind)))
        throw new Unable(
          `The NATS server at HOLDPOINT_NATS_URL lets ${name} write ${kind}, which it may not: it needs the permissions that deploy/nats makes.`,
        );
  } finally {
    await connection.close();
  }
}

/** A server that starts at the same time as we do gets a while. @param {string} name @param {{ natsUrl: string, natsCredsDir: string, natsCa: string | undefined }} broker */
async function connectAs(name, { natsUrl, natsCredsDir, natsCa }) {
  let why = '';
  const connection = await until(
    async () => {
      try {
        const seed = readFileSync(join(natsCredsDir, `${name}.nk`), 'utf8').trim();
        const authenticator = nkeyAuthenticator(new TextEncoder().encode(seed));
        const tls = natsCa === undefined ? {} : { tls: { caFile: natsCa } };
        return await connect({ servers: natsUrl.split(','), authenticator, inboxPrefix: `_INBOX.${name}`, ...tls });
      } catch (error) {
        why = error instanceof Error ? error.message : String(error);
        return undefined;
      }
    },
    { withinMs: CONNECT_MS, everyMs: 500 },
  );
  if (connection) return connection;
  throw new Unable(`The NATS server at HOLDPOINT_NATS_URL cannot be used as ${name}: ${why}.`);
}

/** @param {string} name */
const foreignKinds = (name) =>
  Object.keys(identities)
    .filter((other) => other !== name)
    .flatMap(factSubjects)
    .map((pattern) => pattern.replace('>', 'e1.probe').replaceAll('*', 'probe'));

/** @param {import('@nats-io/transport-node').NatsConnection} connection @param {string} subject */
async function isDenied(connection, subject) {
  const guard = headers();
  guard.set('Nats-Expected-Stream', NOWHERE);
  try {
    await connection.request(subject, '{}', { timeout: 2_000, headers: guard });
    return false;
  } catch (error) {
    return `${error} ${/** @type {Error} */ (error).cause ?? ''}`.includes('Permissions Violation');
  }
}

/** @param {string} databaseUrl */
export async function checkDatabase(databaseUrl) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    const { rows } = await client.query('SHOW server_version_num');
    if (Number(rows[0].server_version_num) < OLDEST_POSTGRES)
      throw new Unable(
        'The database at HOLDPOINT_DATABASE_URL is older than Postgres 15, and Holdpoint needs 15 or newer.',
      );
  } catch (error) {
    if (error instanceof Unable) throw error;
    throw new Unable(
      `The database at HOLDPOINT_DATABASE_URL does not answer: ${error instanceof Error ? error.message : error}.`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
