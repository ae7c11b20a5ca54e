import type { ClientBase } from 'pg';
import type { AnyRow, Table } from '#decider/projection';
import type { TableChanges } from './merge.js';

/** At most two statements a table, however many rows. */
export async function writeRows(client: ClientBase, { table, puts, removals }: TableChanges): Promise<void> {
  if (removals.length > 0) await client.query(deletion(table), valuesOf(table.key, removals));
  if (puts.length === 0) return;
  const columns = Object.keys(table.columns).filter((column) => puts.some((row) => row[column] !== undefined));
  await client.query(upsert(table, columns), valuesOf(columns, puts));
}

/** A column that a row does not set is null there, and keeps what the table has. */
function upsert(table: Table, columns: readonly string[]): string {
  const names = columns.join(', ');
  const set = columns
    .filter((column) => !table.key.includes(column))
    .map((column) => `${column} = COALESCE(excluded.${column}, ${table.name}.${column})`);
  return `INSERT INTO ${table.name} (${names}) SELECT * FROM unnest(${parameters(table, columns)})
    ON CONFLICT (${table.key.join(', ')}) DO UPDATE SET ${set.join(', ')}`;
}

function deletion(table: Table): string {
  const same = table.key.map((column) => `${table.name}.${column} = gone.${column}`);
  return `DELETE FROM ${table.name} USING unnest(${parameters(table, table.key)}) AS gone (${table.key.join(', ')})
    WHERE ${same.join(' AND ')}`;
}

const parameters = (table: Table, columns: readonly string[]): string =>
  columns.map((column, at) => `$${at + 1}::${table.columns[column]}[]`).join(', ');

const valuesOf = (columns: readonly string[], rows: readonly AnyRow[]): unknown[][] =>
  columns.map((column) => rows.map((row) => row[column] ?? null));
