import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { play } from '../scenario.js';
import { onImage, onTmpfs, system, whyNoImage, whyNoMount, type Disk } from './mounts.js';
import type { OwnWorld } from './own-world.js';

const SMALL_MB = 64;
let smallDisk = '';

/** The broker's disk is full under load, then has room again, and the broker is started again. */
export const diskFull: OwnWorld = {
  name: 'disk-full',
  whyNot: () => whyNoMount('-t', 'tmpfs', 'tmpfs'),
  within: (run) =>
    onTmpfs(SMALL_MB, (folder) => {
      smallDisk = folder;
      return run({ natsDir: join(folder, 'nats') });
    }),
  run: async (running) => {
    const { nats } = running.place.world.servers;
    const report = await play(running, {
      name: 'disk-full',
      longestPauseMs: 0,
      faults: async () => {
        await sleep(3_000);
        const filler = fill(smallDisk);
        await sleep(6_000);
        rmSync(filler);
        await nats.restart();
        await sleep(2_000);
        return [];
      },
    });
    return { ...report, faults: 1, counts: { 'disk full for 6 s': 1 } };
  },
};

/** To the last block: the broker takes what is left while this is written. */
function fill(folder: string): string {
  const file = join(folder, 'filler');
  const chunk = Buffer.alloc(64 * 1024);
  for (let written = 0; written < SMALL_MB * 2 ** 20; written += chunk.length)
    try {
      appendFileSync(file, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return file;
      throw error;
    }
  throw new Error('The small disk took more than it holds');
}

let disk: Disk | undefined;

/** The broker stands still, its disk is copied as it is at that moment, and the broker goes on from the copy. */
export const powerLoss: OwnWorld = {
  name: 'power-loss',
  whyNot: () => whyNoImage(),
  within: (run) =>
    onImage((itsDisk) => {
      disk = itsDisk;
      return run({ natsDir: join(itsDisk.folder, 'nats') });
    }),
  run: async (running) => {
    const { nats } = running.place.world.servers;
    const report = await play(running, {
      name: 'power-loss',
      longestPauseMs: 0,
      faults: async () => {
        // What was configured is on the disk; the load is what the power is cut under.
        if (disk) system('sync', '-f', disk.folder);
        await sleep(5_000);
        nats.pause();
        await disk?.cutPower(() => nats.kill());
        await nats.restart();
        await sleep(3_000);
        return [];
      },
    });
    return { ...report, faults: 1, counts: { 'power cut of the broker': 1 } };
  },
};
