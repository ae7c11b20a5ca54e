// @ts-check
import { acksOf, deniedOf, identities, pullsOf, requestsOf, rpcOf } from './permissions.mjs';

/**
 * @typedef {{
 *   serverName: string,
 *   host: string,
 *   port: number,
 *   storeDir: string,
 *   publicKeys: Record<string, string>,
 *   maxFileStoreBytes?: number,
 *   syncAlways?: boolean,
 *   cluster?: { name: string, host: string, port: number, routes: string[] },
 *   monitorPort?: number,
 *   tls?: { certFile: string, keyFile: string },
 * }} BrokerOptions
 */

const MAX_PAYLOAD = 2 * 1024 * 1024;
const DEFAULT_MAX_FILE_STORE = 50 * 1024 ** 3;

/** The whole nats-server configuration as its text: JSON is a form that the server reads. @param {BrokerOptions} options */
export function brokerConfig(options) {
  return `${JSON.stringify({ ...serverPart(options), accounts: accounts(options.publicKeys) }, null, 2)}\n`;
}

/** @param {BrokerOptions} options */
function serverPart({
  serverName,
  host,
  port,
  storeDir,
  maxFileStoreBytes,
  syncAlways = true,
  cluster,
  monitorPort,
  tls,
}) {
  return {
    server_name: serverName,
    host,
    port,
    max_payload: MAX_PAYLOAD,
    write_deadline: '10s',
    ping_interval: '20s',
    jetstream: {
      store_dir: storeDir,
      max_file_store: maxFileStoreBytes ?? DEFAULT_MAX_FILE_STORE,
      ...(syncAlways ? { sync_interval: 'always' } : {}),
    },
    ...(cluster
      ? { cluster: { name: cluster.name, listen: `${cluster.host}:${cluster.port}`, routes: cluster.routes } }
      : {}),
    ...(monitorPort ? { http: `127.0.0.1:${monitorPort}` } : {}),
    ...(tls ? { tls: { cert_file: tls.certFile, key_file: tls.keyFile, min_version: '1.3' } } : {}),
  };
}

/** @param {Record<string, string>} publicKeys */
function accounts(publicKeys) {
  return {
    LOG: { jetstream: 'enabled', exports: Object.values(identities).flatMap(exportsToIdentity) },
    ...Object.fromEntries(
      Object.entries(identities).map(([name, { account: its }]) => [its, account(name, publicKeys)]),
    ),
  };
}

/** What the log's account lets one identity call. @param {import('./permissions.mjs').Identity} identity */
function exportsToIdentity(identity) {
  const to = [identity.account];
  return [
    ...[...requestsOf(identity), ...acksOf(identity)].map((service) => ({ service, accounts: to })),
    ...pullsOf(identity).map((service) => ({ service, response_type: 'stream', accounts: to })),
  ];
}

/** @param {string} name @param {Record<string, string>} publicKeys */
function account(name, publicKeys) {
  const identity = identityOf(name);
  const fromLog = [...requestsOf(identity), ...pullsOf(identity), ...acksOf(identity)].map((subject) => ({
    service: { account: 'LOG', subject },
  }));
  const asks = (identity.asks ?? []).map((service) => ({
    service: { account: identityOf(service).account, subject: rpcOf(service) },
  }));
  const callers = Object.values(identities).filter(({ asks: services }) => services?.includes(name));
  const serves = identity.serves
    ? [{ service: rpcOf(identity.serves), accounts: callers.map(({ account: caller }) => caller) }]
    : [];
  return { users: [user(name, publicKeys)], imports: [...fromLog, ...asks], exports: serves };
}

/** @param {string} name @param {Record<string, string>} publicKeys */
function user(name, publicKeys) {
  const identity = identityOf(name);
  const asks = (identity.asks ?? []).map(rpcOf);
  const publish = [...requestsOf(identity), ...pullsOf(identity), ...acksOf(identity), ...asks];
  const serves = identity.serves ? [rpcOf(identity.serves)] : [];
  const deny = deniedOf(identity);
  return {
    nkey: publicKeys[name],
    permissions: {
      publish: { allow: publish, ...(deny.length > 0 ? { deny } : {}) },
      subscribe: { allow: [`_INBOX.${name}.>`, ...serves] },
      ...(identity.serves ? { allow_responses: { max: 1, expires: '30s' } } : {}),
    },
  };
}

/** @param {string} name */
function identityOf(name) {
  const identity = identities[name];
  if (!identity) throw new Error(`There is no broker identity named ${name}`);
  return identity;
}
