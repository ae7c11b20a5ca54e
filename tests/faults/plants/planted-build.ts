import { copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '#tools/test-servers';
import { compilePlant, type Plant } from './plant.js';

export interface PlantedBuild {
  /** Stands where the project's own `dist` would. */
  readonly dist: string;
  remove(): void;
}

/** A copy of the built product with the fault in it; the project's own build stays as it is. */
export function plantedBuild(plant: Plant): PlantedBuild {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-plant-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const dist = join(folder, 'dist');
    for (const part of ['apps', 'libs']) cpSync(join(ROOT, 'dist', part), join(dist, part), { recursive: true });
    copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
    for (const { path, code } of compilePlant(plant)) writeFileSync(join(dist, path), code);
    return { dist, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
