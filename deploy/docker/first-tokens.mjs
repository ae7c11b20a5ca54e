// @ts-check
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureFirstTokens, TOKEN_FILES } from '../../tools/start/tokens.mjs';

/** The tokens of the README's examples, made once the door is open. */
const { HOLDPOINT_DATA_DIR: dataDir = '/data', GATEWAY_URL: url = 'http://gateway:7400' } = process.env;
const adminToken = process.env['HOLDPOINT_ADMIN_TOKEN'] ?? readFileSync(join(dataDir, 'admin-token'), 'utf8').trim();

await ensureFirstTokens({ url, dataDir, adminToken });
for (const file of TOKEN_FILES) console.log(`docker compose exec gateway cat ${join(dataDir, file)}`);
