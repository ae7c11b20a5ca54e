import { join } from 'node:path';
import pg from 'pg';
import { bootstrap } from '#event-log/bootstrap';
import { migrate } from '#read-model/migrate';
import { connectBroker, type Broker, type Identity } from '#service/broker';
import { startTestServers, type TestServers } from '#tools/test-servers';
import { MIGRATIONS } from '../../apps/approval-service/src/projections/projections.js';

/** A log and a database without the services: for what is measured loop by loop. */
export interface LogStack {
  readonly servers: TestServers;
  as(identity: Identity): Promise<Broker>;
  /** A database of its own with the read model's tables, empty. */
  database(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** The database is as durable as anyone's. The log is filled without a sync a message: its writing is not what is measured. */
export async function startLogStack(): Promise<LogStack> {
  const servers = await startTestServers({ syncAlways: false, fastDatabase: false });
  const brokers: Broker[] = [];
  const stop = async () => {
    await Promise.all(brokers.map((broker) => broker.close()));
    await servers.stop();
  };
  try {
    await bootstrap({ url: servers.natsUrl, seedFile: join(servers.credsDir, 'bootstrap.nk'), replicas: 1 });
  } catch (error) {
    await stop();
    throw error;
  }
  const as = async (identity: Identity) => {
    const settings = { natsUrl: servers.natsUrl, natsCredsDir: servers.credsDir, natsCa: undefined };
    const broker = await connectBroker(settings, identity);
    brokers.push(broker);
    return broker;
  };
  return { servers, as, database: (name) => createDatabase(servers.databaseUrl, name), stop };
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await onDatabase(serverUrl, (client) => client.query(`CREATE DATABASE ${name}`));
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).toString();
  await migrate({ databaseUrl: url, migrations: MIGRATIONS });
  return url;
}

export async function onDatabase<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client(url);
  await client.connect();
  return work(client).finally(() => client.end());
}
