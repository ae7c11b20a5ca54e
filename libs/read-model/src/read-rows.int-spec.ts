import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { Unavailable } from '#decider/unavailable';
import { openProjectorPool } from './pools.js';
import { readRows } from './read-rows.js';

const databaseUrl = process.env['HOLDPOINT_TEST_DATABASE_URL'] ?? '';

it('rows are those of the statement', async () => {
  const pool = openProjectorPool(databaseUrl);
  expect(await readRows(pool, 'SELECT $1::int + 1 AS n', [1])).toEqual([{ n: 2 }]);
  await pool.end();
});

it('a statement that takes too long is an outage, and the next has another connection', async () => {
  const pool = openProjectorPool(databaseUrl);
  await expect(readRows(pool, 'SELECT pg_sleep($1)', [30])).rejects.toThrow(Unavailable);
  expect(await readRows(pool, 'SELECT 1 AS n', [])).toEqual([{ n: 1 }]);
  await pool.end();
}, 30_000);

it('a mistake in the statement is none', async () => {
  const pool = openProjectorPool(databaseUrl);
  await expect(readRows(pool, 'SELECT 1/$1::int', [0])).rejects.not.toThrow(Unavailable);
  await pool.end();
});

it('a server that takes connections and says nothing is an outage', async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pool = openProjectorPool(Object.assign(new URL(databaseUrl), { host }).toString());
  await expect(readRows(pool, 'SELECT 1', [])).rejects.toThrow(Unavailable);
  await pool.end();
  server.close();
}, 30_000);
