// @ts-check
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Gives a service its secrets from files, since a container's environment is shown to whoever may inspect it, and runs it. */
const [service = ''] = process.argv.slice(2);
const {
  HOLDPOINT_DATA_DIR: dataDir = '/data',
  DATABASE_PASSWORD_FILE: passwordFile,
  DATABASE_HOST: host = 'postgres',
} = process.env;

/** @param {string} file */
const secretIn = (file) => readFileSync(file, 'utf8').trim();

process.env['HOLDPOINT_ADMIN_TOKEN'] ??= secretIn(join(dataDir, 'admin-token'));
if (passwordFile)
  process.env['HOLDPOINT_DATABASE_URL'] ??= `postgres://holdpoint:${secretIn(passwordFile)}@${host}:5432/holdpoint`;

await import(new URL(`../../dist/apps/${service}/src/main.js`, import.meta.url).href);
