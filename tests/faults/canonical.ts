import { createHash } from 'node:crypto';

/** Keys in order of their UTF-16 units, as RFC 8785 has them: written here anew, so that a fault in the product's own shows. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`);
  return `{${fields.join(',')}}`;
}

export const digest = (value: unknown): string =>
  `sha256:${createHash('sha256').update(canonical(value)).digest('hex')}`;

export const same = (a: unknown, b: unknown): boolean => canonical(a ?? null) === canonical(b ?? null);
