import { transformSync } from '@swc/core';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#tools/test-servers';
import type { Invariant } from '../checker/violation.js';
import type { ServiceName } from '../../support/world.js';
import type { LoadFocus } from '../load/load.js';

/** One place in the product's source, and what a bad commit would have made of it. */
export interface Change {
  readonly file: string;
  /** There exactly once, or the plant is out of date. */
  readonly find: string;
  readonly replace: string;
}

/** A service ended at a named step, or the broker standing still. */
export type Trouble =
  | { readonly kind: 'kill-at'; readonly service: ServiceName; readonly step: string }
  | { readonly kind: 'broker-pause'; readonly forMs: number };

/** A fault put into a copy of the product, to see that the campaign finds it. */
export interface Plant {
  readonly name: string;
  /** What a bad commit would have broken, in one sentence. */
  readonly what: string;
  readonly changes: readonly Change[];
  /** At least one of these must report it. */
  readonly foundBy: readonly Invariant[];
  /** What else must happen for it to show; most show by the load alone. */
  readonly during?: readonly Trouble[];
  readonly focus?: LoadFocus;
}

export interface Compiled {
  /** Below the folder that the product is built into. */
  readonly path: string;
  readonly code: string;
}

/** Throws where the text is not there exactly once: a plant that no longer changes anything would prove nothing. */
export function changed(source: string, { file, find, replace }: Change): string {
  const found = source.split(find).length - 1;
  if (found !== 1) throw new Error(`${file} has the text ${found} times, not once:\n${find}`);
  return source.replace(find, () => replace);
}

/** Every file that the plant changes, as the build would have made it. */
export function compilePlant({ changes }: Plant): readonly Compiled[] {
  const sources = new Map<string, string>();
  for (const change of changes) {
    const { file } = change;
    sources.set(file, changed(sources.get(file) ?? readFileSync(join(ROOT, file), 'utf8'), change));
  }
  return [...sources].map(([file, source]) => ({ path: file.replace(/\.ts$/, '.js'), code: compiled(file, source) }));
}

const compiled = (file: string, source: string): string =>
  transformSync(source, {
    filename: join(ROOT, file),
    configFile: join(ROOT, '.swcrc'),
    cwd: ROOT,
    sourceMaps: false,
  }).code;
