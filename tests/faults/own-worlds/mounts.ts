import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IMAGE_MB = 256;

/** Runs a program of the system; throws its words where it fails. */
export function system(command: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr.trim()}`);
}

/** Why a file system cannot be mounted here; undefined where it can. */
export function whyNoMount(...options: readonly string[]): string | undefined {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.getuid?.() !== 0) return 'it needs root, to mount a file system';
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-mount-'));
  try {
    system('mount', ...options, folder);
    system('umount', folder);
    return undefined;
  } catch (error) {
    return `the machine does not let a file system be mounted (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A folder on a small disk of its own, for as long as something is run in it. */
export async function onTmpfs<Result>(megabytes: number, run: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-small-'));
  system('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder);
  try {
    return await run(folder);
  } finally {
    system('umount', '-l', folder);
    rmSync(folder, { recursive: true });
  }
}

export interface Disk {
  readonly folder: string;
  readonly image: string;
  /** Everything that had reached the disk, and nothing else: the disk is taken out and its copy is put in. */
  cutPower(stopped: () => Promise<void>): Promise<void>;
}

/** A folder on a disk that is a file. */
export async function onImage<Result>(run: (disk: Disk) => Promise<Result>): Promise<Result> {
  const place = mkdtempSync(join(tmpdir(), 'holdpoint-disk-'));
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-on-disk-'));
  const image = makeImage(place);
  system('mount', '-o', 'loop', image, folder);
  const cutPower = async (stopped: () => Promise<void>) => {
    const copy = join(place, 'copy.img');
    system('cp', '--sparse=always', image, copy);
    await stopped();
    system('umount', folder);
    system('mount', '-o', 'loop', copy, folder);
  };
  try {
    return await run({ folder, image, cutPower });
  } finally {
    system('umount', '-l', folder);
    for (const one of [folder, place]) rmSync(one, { recursive: true });
  }
}

function makeImage(place: string): string {
  const image = join(place, 'disk.img');
  system('truncate', '-s', `${IMAGE_MB}M`, image);
  system('mkfs.ext4', '-q', '-F', image);
  return image;
}

/** A mount of a real image: loop devices are not everywhere. */
export function whyNoImage(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return whyNoMount();
  const place = mkdtempSync(join(tmpdir(), 'holdpoint-disk-'));
  try {
    return whyNoMount('-o', 'loop', makeImage(place));
  } catch (error) {
    return `the machine cannot make a disk (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    rmSync(place, { recursive: true });
  }
}
