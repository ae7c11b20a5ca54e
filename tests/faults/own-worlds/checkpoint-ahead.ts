import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { eventually } from '../../support/world.js';
import { play } from '../scenario.js';
import { alarmed } from './alarm.js';
import type { OwnWorld } from './own-world.js';

/**
 * The log is put back to an older copy while the read model knows more: what was acknowledged since is gone, which no
 * program can mend. The projector must say so and refuse to go on, instead of building on another past.
 */
export const checkpointAhead: OwnWorld = {
  name: 'checkpoint-ahead',
  whyNot: () => undefined,
  within: (run) => run({}),
  run: async (running) => {
    const { place, keeper } = running;
    const { servers } = place.world;
    const store = join(servers.dir, 'nats', 'jetstream');
    const copy = join(servers.dir, 'nats-older');
    const report = await play(running, {
      name: 'checkpoint-ahead',
      longestPauseMs: 0,
      faults: async () => {
        await sleep(2_000);
        await servers.nats.kill();
        await cp(store, copy, { recursive: true });
        await servers.nats.restart();
        await sleep(6_000);
        return [];
      },
    });
    const known = await checkpointOf(servers.databaseUrl);
    await keeper.end('approval-service', 'SIGKILL');
    await servers.nats.kill();
    await rm(store, { recursive: true });
    await cp(copy, store, { recursive: true });
    await servers.nats.restart();
    keeper.start('approval-service');
    const refused = await alarmed(place.world, 'checkpoint-ahead');
    const what = `the log was put back to before fact ${known}, and the projector did not refuse it`;
    const violations = refused ? [] : [{ invariant: 'I3', subject: 'read model', what } as const];
    const counts = { 'log put back to an older copy': 1 };
    return { ...report, faults: 1, counts, violations: [...report.violations, ...violations] };
  },
};

const checkpointOf = (connectionString: string): Promise<number> =>
  eventually(async () => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      const found = await client.query<{ last_seq: string }>('SELECT last_seq FROM projection_checkpoint');
      return Number(found.rows[0]?.last_seq ?? 0);
    } finally {
      await client.end();
    }
  });
