// @ts-check
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brokerConfig } from '../../deploy/nats/broker-config.mjs';

/**
 * Writes the configuration of one server into its folder.
 * @param {string} dir @param {Omit<import('../../deploy/nats/broker-config.mjs').BrokerOptions, 'host' | 'storeDir'>} options
 * @returns {string} the file
 */
export function writeBrokerConfig(dir, options) {
  const configFile = join(dir, 'nats.conf');
  mkdirSync(dir, { recursive: true });
  writeFileSync(configFile, brokerConfig({ ...options, host: '127.0.0.1', storeDir: join(dir, 'jetstream') }), {
    mode: 0o600,
  });
  return configFile;
}
