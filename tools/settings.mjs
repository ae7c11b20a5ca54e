// @ts-check
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * @typedef {{
 *   host: string, port: number, metricsPort: number, dataDir: string, adminToken: string | undefined,
 *   natsUrl: string | undefined, natsCredsDir: string | undefined, natsCa: string | undefined, databaseUrl: string | undefined,
 * }} StartSettings
 * @typedef {(value: string) => string | undefined} Check says what is wrong, if anything
 */

/** @param {number} min @param {number} max @returns {Check} */
const whole = (min, max) => (value) =>
  /^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max
    ? undefined
    : `must be a whole number from ${min} to ${max}`;

/** @param {...string} values @returns {Check} */
const oneOf =
  (...values) =>
  (value) =>
    values.includes(value) ? undefined : `must be one of ${values.join(', ')}`;

/** @param {...string} protocols @returns {Check} */
const addresses =
  (...protocols) =>
  (value) =>
    value.split(',').every((one) => URL.canParse(one) && protocols.includes(new URL(one).protocol.slice(0, -1)))
      ? undefined
      : `must be an address that begins with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`;

/** @type {Check} */
const readable = (value) => {
  try {
    readdirSync(value);
    return undefined;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOTDIR') return undefined;
    return 'names something that cannot be read';
  }
};

/** @type {Check} */
const secret = (value) =>
  /^[\x21-\x7e]{16,512}$/.test(value) ? undefined : 'must be 16 to 512 printable characters without spaces';

/** @type {Check} */
const word = (value) => (/^[\x21-\x7e]+$/.test(value) ? undefined : 'must not contain spaces');

/** Every setting there is, and what makes its value good. @type {Record<string, Check>} */
export const SETTINGS = {
  HOLDPOINT_PORT: whole(1, 65_535),
  HOLDPOINT_HOST: word,
  HOLDPOINT_METRICS_PORT: whole(1, 65_535),
  HOLDPOINT_DATA_DIR: () => undefined,
  HOLDPOINT_NATS_URL: addresses('nats', 'tls'),
  HOLDPOINT_NATS_CREDS_DIR: readable,
  HOLDPOINT_NATS_CA: readable,
  HOLDPOINT_DATABASE_URL: addresses('postgres', 'postgresql'),
  HOLDPOINT_ADMIN_TOKEN: secret,
  HOLDPOINT_LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  HOLDPOINT_LEASE_SECONDS: whole(1, 900),
  HOLDPOINT_RATE_LIMIT: whole(0, 1_000_000),
  HOLDPOINT_OIDC_ISSUER: addresses('https', 'http'),
  HOLDPOINT_OIDC_AUDIENCE: word,
  HOLDPOINT_OIDC_SUBJECT_CLAIM: word,
};
const SECRETS = ['HOLDPOINT_ADMIN_TOKEN', 'HOLDPOINT_DATABASE_URL', 'HOLDPOINT_NATS_URL'];

export class WrongSetting extends Error {}

/** Throws one sentence that says which setting is wrong and why. @param {NodeJS.ProcessEnv} env @returns {StartSettings} */
export function readSettings(env) {
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name.startsWith('HOLDPOINT_') && value !== ''),
  );
  for (const [name, value = ''] of Object.entries(given)) checkOne(name, value);
  checkTogether(given);
  return {
    host: given.HOLDPOINT_HOST ?? '127.0.0.1',
    port: Number(given.HOLDPOINT_PORT ?? 7400),
    metricsPort: Number(given.HOLDPOINT_METRICS_PORT ?? 7401),
    dataDir: resolve(given.HOLDPOINT_DATA_DIR ?? '.holdpoint'),
    adminToken: given.HOLDPOINT_ADMIN_TOKEN,
    natsUrl: given.HOLDPOINT_NATS_URL,
    natsCredsDir: given.HOLDPOINT_NATS_CREDS_DIR && resolve(given.HOLDPOINT_NATS_CREDS_DIR),
    natsCa: given.HOLDPOINT_NATS_CA && resolve(given.HOLDPOINT_NATS_CA),
    databaseUrl: given.HOLDPOINT_DATABASE_URL,
  };
}

/** @param {string} name @param {string} value */
function checkOne(name, value) {
  const check = SETTINGS[name];
  if (!check)
    throw new WrongSetting(
      `${name} is not a setting of Holdpoint; the settings are ${Object.keys(SETTINGS).join(', ')}.`,
    );
  const wrong = check(value);
  if (wrong) throw new WrongSetting(`${name} is ${SECRETS.includes(name) ? 'set' : `"${value}"`}, but ${wrong}.`);
}

/** @param {Record<string, string | undefined>} given */
function checkTogether(given) {
  if (given.HOLDPOINT_NATS_URL && !given.HOLDPOINT_NATS_CREDS_DIR)
    throw new WrongSetting(
      'HOLDPOINT_NATS_URL is set without HOLDPOINT_NATS_CREDS_DIR, the folder with one nkey a service, and no service may connect without its own.',
    );
  for (const name of ['HOLDPOINT_NATS_CREDS_DIR', 'HOLDPOINT_NATS_CA'])
    if (given[name] && !given.HOLDPOINT_NATS_URL)
      throw new WrongSetting(`${name} is set without HOLDPOINT_NATS_URL, the server that it belongs to.`);
  if ((given.HOLDPOINT_PORT ?? '7400') === (given.HOLDPOINT_METRICS_PORT ?? '7401'))
    throw new WrongSetting(
      'HOLDPOINT_METRICS_PORT is the same as HOLDPOINT_PORT, but metrics have a port of their own.',
    );
}
