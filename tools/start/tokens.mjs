// @ts-check
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Unable } from '../servers/processes.mjs';
import { keptText, randomName, writeWhole } from './kept.mjs';

/** The tokens that the README's examples use. */
const FIRST_TOKENS = {
  'agent-token': { name: 'demo-agent', subject: 'demo-agent', roles: ['agent'] },
  'approver-token': { name: 'you', subject: 'you@localhost', roles: ['approver'] },
};
export const TOKEN_FILES = ['admin-token', ...Object.keys(FIRST_TOKENS)];
const TRIES = 3;

/** A token that comes from the settings is not written to disk. @param {import('../settings.mjs').StartSettings} settings */
export const adminTokenOf = ({ adminToken, dataDir }) =>
  adminToken ?? keptText(join(dataDir, 'admin-token'), () => randomName('hp_admin_'));

/** @param {{ url: string, dataDir: string, adminToken: string }} place */
export async function ensureFirstTokens({ url, dataDir, adminToken }) {
  for (const [file, body] of Object.entries(FIRST_TOKENS)) {
    const path = join(dataDir, file);
    if (!existsSync(path))
      writeWhole(path, `${await makeToken({ url, adminToken, body, keyFile: join(dataDir, 'run', `${file}.key`) })}\n`);
  }
}

/**
 * The key is kept before it is used: a start that was cut short asks for the same token again, and not for another.
 * @param {{ url: string, adminToken: string, body: object, keyFile: string }} wanted
 */
async function makeToken({ url, adminToken, body, keyFile }) {
  for (let tries = 0; tries < TRIES; tries++) {
    const key = keptText(keyFile, randomUUID);
    const answer = await fetch(`${url}/v1/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    /** @type {{ token?: string, detail?: string }} */
    const made = Object(await answer.json().catch(() => ({})));
    if (answer.ok && made.token && (await works(url, made.token))) return made.token;
    if (answer.status < 500 && answer.status !== 409 && !answer.ok)
      throw new Unable(`The first token could not be made: ${made.detail ?? `the gateway answered ${answer.status}`}`);
    // Already made, and its secret shown to nobody who is left (or since revoked): another is asked for.
    if (answer.status < 500) writeWhole(keyFile, `${randomUUID()}\n`);
  }
  throw new Unable('The first token could not be made: the gateway did not give one that works.');
}

/** @param {string} url @param {string} token */
async function works(url, token) {
  const answer = await fetch(`${url}/v1/me`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(15_000),
  });
  await answer.arrayBuffer();
  return answer.ok;
}
