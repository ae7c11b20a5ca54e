import { onDatabase } from './stack.js';

export interface TableSize {
  readonly table: string;
  readonly rows: number;
  readonly heapBytes: number;
  readonly indexBytes: number;
  readonly totalBytes: number;
}

const TABLES = ['turns', 'approvals', 'due', 'attempts', 'grants', 'event_log'];

/** After a vacuum, as a server that runs for days has had: what is dead is not counted as needed. */
export const tableSizes = (databaseUrl: string): Promise<TableSize[]> =>
  onDatabase(databaseUrl, async (client) => {
    await client.query(`VACUUM ANALYZE ${TABLES.join(', ')}`);
    const sizes: TableSize[] = [];
    for (const table of TABLES) {
      const query = `SELECT (SELECT count(*) FROM ${table}) AS rows, pg_table_size('${table}') AS heap,
        pg_indexes_size('${table}') AS index, pg_total_relation_size('${table}') AS total`;
      const [row] = (await client.query<Record<'rows' | 'heap' | 'index' | 'total', string>>(query)).rows;
      if (!row) throw new Error(`${table} has no size`);
      const [rows, heapBytes, indexBytes, totalBytes] = [row.rows, row.heap, row.index, row.total].map(Number);
      sizes.push({ table, rows, heapBytes, indexBytes, totalBytes } as TableSize);
    }
    return sizes;
  });
