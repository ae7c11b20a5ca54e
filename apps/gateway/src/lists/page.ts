import { refused, type Refused } from '../http/problem.js';

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Of the next page; null where this is the last. */
  readonly nextCursor: string | null;
}

export interface Paging {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Where the next page begins: opaque to callers. */
export const encodeCursor = (position: readonly string[]): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** A moment and an id: what every list is ordered by. */
export function decodeCursor(cursor: string): readonly [at: string, id: string] {
  const position = jsonOf(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (Array.isArray(position)) {
    const [at, id] = position as unknown[];
    if (typeof at === 'string' && INSTANT.test(at) && typeof id === 'string' && /^[\w-]{1,200}$/.test(id))
      return [at, id];
  }
  throw wrongCursor();
}

export const wrongCursor = (): Refused =>
  refused('invalid-input', 'The cursor is not one that this list gave', {
    errors: [{ path: 'cursor', message: 'must be a nextCursor of an earlier answer' }],
  });

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One row more than wanted was asked for: whether it is there says whether there is a next page. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  { item, position }: { readonly item: (row: Row) => Item; readonly position: (row: Row) => readonly string[] },
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const nextCursor = rows.length > limit && last !== undefined ? encodeCursor(position(last)) : null;
  return { items: shown.map(item), nextCursor };
}

/** The values of one statement; each is named by its place. */
export class Values {
  readonly all: unknown[] = [];
  next = (value: unknown): string => `$${this.all.push(value)}`;
}

export const isoOf = (moment: Date | null): string | null => (moment === null ? null : moment.toISOString());
