// @ts-check
import { chmodSync, copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';

/** Copied beside its place and renamed: two starts at once never run half a file. @param {string} source @param {string} target */
export function install(source, target) {
  mkdirSync(dirname(target), { recursive: true });
  const beside = `${target}.${process.pid}`;
  copyFileSync(source, beside);
  chmodSync(beside, 0o755);
  renameSync(beside, target);
}
