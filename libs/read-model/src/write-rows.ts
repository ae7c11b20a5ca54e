import { createHash } from 'node:crypto';
import type { QueryConfig } from 'pg';
import type { AnyRow, Table } from '#decider/projection';
import { textArray } from './array-parameter.js';
import type { TableChanges } from './merge.js';

/** At most two statements a table, however many rows. */
export const rowStatements = ({ table, puts, removals }: TableChanges): QueryConfig[] => [
  ...(removals.length > 0 ? [named(deletion(table), valuesOf(table.key, removals))] : []),
  ...(puts.length > 0 ? [named(upsert(table), valuesOf(Object.keys(table.columns), puts))] : []),
];

/** A column that a row does not set is null there, and keeps what the table has. */
function upsert({ name, key, columns }: Table): string {
  const all = Object.keys(columns);
  const set = all
    .filter((column) => !key.includes(column))
    .map((column) => `${column} = COALESCE(excluded.${column}, ${name}.${column})`);
  return `INSERT INTO ${name} (${all.join(', ')}) SELECT ${typed(columns, all)} FROM ${given(all)}
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${set.join(', ')}`;
}

function deletion({ name, key, columns }: Table): string {
  const same = key.map((column) => `${name}.${column} = given.${column}::${columns[column]}`);
  return `DELETE FROM ${name} USING ${given(key)} WHERE ${same.join(' AND ')}`;
}

/** Whatever the type, its text is sent, and Postgres says whether it is one. */
const given = (columns: readonly string[]): string =>
  `unnest(${columns.map((_, at) => `$${at + 1}::text[]`).join(', ')}) AS given (${columns.join(', ')})`;
const typed = (types: Table['columns'], columns: readonly string[]): string =>
  columns.map((column) => `given.${column}::${types[column]}`).join(', ');

const valuesOf = (columns: readonly string[], rows: readonly AnyRow[]): Buffer[] =>
  columns.map((column) => textArray(rows.map((row) => row[column])));

/** Parsed and planned once a session. */
const named = (text: string, values: Buffer[]): QueryConfig => ({ name: nameOf(text), text, values });
const names = new Map<string, string>();
function nameOf(text: string): string {
  const name = names.get(text) ?? createHash('sha256').update(text).digest('hex').slice(0, 32);
  names.set(text, name);
  return name;
}
