import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from '../../support/world.js';

const WITHIN_MS = 30_000;

/** Whether the projector says in its log that it has stopped for good, and why. */
export async function alarmed({ logFile }: World, why: string): Promise<boolean> {
  const said = () =>
    readFileSync(logFile, 'utf8')
      .split('\n')
      .some((line) => line.includes('The projector has stopped for good') && line.includes(why));
  for (let waited = 0; waited < WITHIN_MS && !said(); waited += 200) await sleep(200);
  return said();
}
