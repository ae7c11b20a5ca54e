import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Everything a service is told from outside; the only place that reads the environment (contract section 1). */
export interface Settings {
  readonly natsUrl: string;
  /** Folder with one nkey seed a service: `<identity>.nk`. */
  readonly natsCredsDir: string;
  readonly natsCa: string | undefined;
  readonly databaseUrl: string;
  readonly adminToken: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly metricsPort: number;
  readonly dataDir: string;
  readonly logLevel: string;
  readonly leaseSeconds: number;
  /** Requests a second a token; 0 is none. */
  readonly rateLimit: number;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const KNOWN = [
  'PORT',
  'HOST',
  'METRICS_PORT',
  'DATA_DIR',
  'NATS_URL',
  'NATS_CREDS_DIR',
  'NATS_CA',
  'DATABASE_URL',
  'ADMIN_TOKEN',
  'LOG_LEVEL',
  'LEASE_SECONDS',
  'RATE_LIMIT',
  'OIDC_ISSUER',
  'OIDC_AUDIENCE',
  'OIDC_SUBJECT_CLAIM',
];

/** Throws one sentence that says which setting is wrong and why. */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  refuseUnknown(env);
  const dataDir = text(env, 'DATA_DIR', './.holdpoint');
  return {
    natsUrl: required(env, 'NATS_URL'),
    natsCredsDir: text(env, 'NATS_CREDS_DIR', join(dataDir, 'creds')),
    natsCa: env['HOLDPOINT_NATS_CA'],
    databaseUrl: required(env, 'DATABASE_URL'),
    adminToken: env['HOLDPOINT_ADMIN_TOKEN'],
    host: text(env, 'HOST', '127.0.0.1'),
    port: whole(env, 'PORT', 7400, [0, 65_535]),
    metricsPort: whole(env, 'METRICS_PORT', 7401, [0, 65_535]),
    dataDir,
    logLevel: oneOf(env, 'LOG_LEVEL', 'info', LOG_LEVELS),
    leaseSeconds: whole(env, 'LEASE_SECONDS', 60, [1, 900]),
    rateLimit: whole(env, 'RATE_LIMIT', 0, [0, 1_000_000]),
  };
}

export const seedOf = (settings: Pick<Settings, 'natsCredsDir'>, identity: string): Uint8Array =>
  new Uint8Array(Buffer.from(readFileSync(join(settings.natsCredsDir, `${identity}.nk`), 'utf8').trim()));

function refuseUnknown(env: NodeJS.ProcessEnv): void {
  const unknown = Object.keys(env).find((name) => name.startsWith('HOLDPOINT_') && !KNOWN.includes(name.slice(10)));
  if (unknown)
    throw new Error(
      `${unknown} is not a setting of Holdpoint; the settings are HOLDPOINT_${KNOWN.join(', HOLDPOINT_')}`,
    );
  const oidc = Object.keys(env).find((name) => name.startsWith('HOLDPOINT_OIDC_'));
  if (oidc) throw new Error(`${oidc} is set, but this version signs people in by token only; leave it out`);
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[`HOLDPOINT_${name}`];
  if (!value) throw new Error(`HOLDPOINT_${name} is missing, and a service cannot start without it`);
  return value;
}

const text = (env: NodeJS.ProcessEnv, name: string, fallback: string): string => env[`HOLDPOINT_${name}`] || fallback;

function whole(env: NodeJS.ProcessEnv, name: string, fallback: number, [min, max]: readonly [number, number]): number {
  const raw = env[`HOLDPOINT_${name}`];
  if (raw === undefined || raw === '') return fallback;
  const value = Number(raw);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`HOLDPOINT_${name} is "${raw}", but must be a whole number from ${min} to ${max}`);
}

function oneOf(env: NodeJS.ProcessEnv, name: string, fallback: string, values: readonly string[]): string {
  const value = text(env, name, fallback);
  if (values.includes(value)) return value;
  throw new Error(`HOLDPOINT_${name} is "${value}", but must be one of ${values.join(', ')}`);
}
