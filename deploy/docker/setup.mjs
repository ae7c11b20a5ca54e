// @ts-check
import { randomBytes } from 'node:crypto';
import { chownSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brokerConfig } from '../nats/broker-config.mjs';
import { ensureKeys } from '../nats/keys.mjs';
import { identityNames } from '../nats/permissions.mjs';

/**
 * What the containers need before they start, made once: each identity's seed where only its service finds it, the broker's
 * configuration, and the passwords. Run as root, because each volume is handed to the user that reads it.
 */
const OWNER = 1000;
const root = process.argv[2] ?? '/setup';
const at = (/** @type {string[]} */ ...path) => join(root, ...path);

/** @param {string} path */
const handOver = (path) => chownSync(path, OWNER, OWNER);

function makeBroker() {
  const publicKeys = ensureKeys(at('keys'));
  for (const name of identityNames) {
    mkdirSync(at('creds', name), { recursive: true });
    copyFileSync(at('keys', `${name}.nk`), at('creds', name, `${name}.nk`));
    for (const path of [at('creds', name), at('creds', name, `${name}.nk`)]) handOver(path);
  }
  const place = { serverName: 'holdpoint', host: '0.0.0.0', port: 4222, monitorPort: 8222, storeDir: '/data' };
  mkdirSync(at('nats-config'), { recursive: true });
  writeFileSync(at('nats-config', 'nats.conf'), brokerConfig({ ...place, publicKeys }));
  mkdirSync(at('nats-data'), { recursive: true });
  handOver(at('nats-data'));
}

/** @param {string} path @param {{ text: string, mode: number }} wanted */
function once(path, { text, mode }) {
  if (!existsSync(path)) writeFileSync(path, `${text}\n`, { mode });
}

/** The database's own user reads its password, and has another number than ours: only who mounts the volume sees it. */
function makeSecrets() {
  for (const folder of ['database', 'data']) mkdirSync(at(folder), { recursive: true });
  once(at('database', 'password'), { text: randomBytes(24).toString('hex'), mode: 0o444 });
  once(at('data', 'admin-token'), { text: `hp_admin_${randomBytes(24).toString('base64url')}`, mode: 0o600 });
  for (const path of [at('data'), at('data', 'admin-token')]) handOver(path);
}

makeBroker();
makeSecrets();
