import type { AnyRow, Change, Table } from '#decider/projection';

/** What a batch comes to for one table: removals first, then one row a key. */
export interface TableChanges {
  readonly table: Table;
  readonly puts: readonly AnyRow[];
  readonly removals: readonly AnyRow[];
}

type Merging = Record<string, AnyRow[string]>;

/** Puts to one key merge in order, since each column is set by one kind of fact; a removal forgets what was put before it. */
export function mergeChanges(table: Table, changes: readonly Change[]): TableChanges {
  const puts = new Map<string, Merging>();
  const removals = new Map<string, AnyRow>();
  for (const change of changes) {
    const key = keyOf(table, change.kind === 'put' ? change.row : change.key);
    if (change.kind === 'put') puts.set(key, putOver(puts.get(key) ?? {}, change.row));
    else {
      puts.delete(key);
      removals.set(key, change.key);
    }
  }
  return { table, puts: [...puts.values()], removals: [...removals.values()] };
}

function putOver(row: Merging, put: AnyRow): Merging {
  for (const column in put) if (put[column] !== undefined) row[column] = put[column];
  return row;
}

/** No text that Postgres can store holds a NUL. */
const keyOf = (table: Table, row: AnyRow): string => table.key.map((column) => row[column]).join('\0');
